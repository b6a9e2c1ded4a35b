// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/shortfall.h"

#include <gtest/gtest.h>

namespace turnpike::sender {
namespace {

std::string shortfall(std::initializer_list<FlowOutcome> outcomes) {
  config::Topology topology;
  topology.hosts.resize(2);
  topology.hosts[0].name = "alice";
  topology.hosts[1].name = "bob";
  Record record;
  for (const FlowOutcome& f : outcomes) record.outcomes.push_back(f);
  return shortfall_text(topology, record);
}

TEST(Shortfall, FlowsThatClosedOrWereCutShortByTheEndAreDelivered) {
  EXPECT_EQ(shortfall({{.completed = true, .ended = FlowEnd::kClosed},
                       {.ended = FlowEnd::kClosed},
                       {.ended = FlowEnd::kOpen}}),
            "");
}

TEST(Shortfall, FlowsThatFailedAreCountedByHost) {
  EXPECT_EQ(shortfall({{.ended = FlowEnd::kReset},
                       {.ended = FlowEnd::kClosed},
                       {.host = 1, .ended = FlowEnd::kGivenUp},
                       {.host = 1, .ended = FlowEnd::kGivenUp}}),
            "1 flow of alice reset by the receiver, 2 flows of bob given up after too many "
            "time-outs");
}

TEST(Shortfall, UnansweredFlowsFailAHostOfWhichNoOpenFlowIsAnswered) {
  EXPECT_EQ(shortfall({{.ended = FlowEnd::kUnanswered}, {.host = 1, .ended = FlowEnd::kOpen}}),
            "1 flow of alice unanswered at the end");
  EXPECT_EQ(shortfall({{.ended = FlowEnd::kUnanswered}, {.ended = FlowEnd::kOpen}}), "");
}

}  // namespace
}  // namespace turnpike::sender
