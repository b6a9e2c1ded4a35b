// SPDX-License-Identifier: BSD-3-Clause
// Responsive and unresponsive flows under test.
#include "common/protocols/xcp/responsiveness.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike::xcp {
namespace {

constexpr Nanos kRtt = 40_ms;

struct Client {
  uint32_t flow;
  double window;       // B
  double claimed = 1;  // of its round trip, in its header
  bool deaf = false;
  bool clumped = false;
};

/// Windows leave in even steps, their feedback arrives a round trip later; a test every 200 ms. The
/// law's own feedback is `gift` B/s per packet.
void play(ResponsivenessTest& responsiveness, std::vector<Client> clients, float gift, int rounds) {
  responsiveness.test_every(200_ms);
  constexpr int kSteps = 100, kClump = 20;  // in a round trip
  std::vector<double> due(clients.size());
  std::vector<std::vector<double>> told(clients.size());
  for (int step = 0; step < rounds * kSteps; ++step) {
    const Nanos now = 1_s + kRtt / kSteps * step;
    for (size_t c = 0; c < clients.size(); ++c) {
      Client& client = clients[c];
      told[c].push_back(0);
      if (step >= kSteps) {
        const double change = told[c][static_cast<size_t>(step - kSteps)];
        client.window =
            std::max(client.window + (client.deaf ? std::max(change, 0.0) : change), 1000.0);
      }
      if (client.clumped)
        due[c] += step % kSteps < kClump ? client.window / kClump : 0;
      else
        due[c] += client.window / kSteps;
      for (; due[c] >= 1000; due[c] -= 1000) {
        const double rtt = client.claimed * to_seconds(kRtt);
        const Header h{.rtt_ns = static_cast<uint32_t>(rtt * 1e9),
                       .flow = static_cast<float>(rtt * 1000 / client.window)};
        told[c].back() += rtt * responsiveness.feedback(client.flow, h, 1000, gift, now);
      }
    }
  }
}

TEST(XcpSuspect, WhoeverDoesAsHeIsToldPasses) {
  for (const float gift : {0.0F, 125.0F}) {
    ResponsivenessTest responsiveness;
    play(responsiveness,
         {{.flow = 1, .window = 200e3}, {.flow = 2, .window = 50e3}, {.flow = 3, .window = 20e3}},
         gift, 200);
    EXPECT_GE(responsiveness.tested(), 10U);
    EXPECT_EQ(responsiveness.guilty(), 0U) << gift;
  }
}

TEST(XcpSuspect, WhoeverSendsInClumpsAndNamesAnAveragePasses) {
  ResponsivenessTest responsiveness;
  play(responsiveness, {{.flow = 1, .window = 500e3, .claimed = 1.07, .clumped = true}}, 125, 200);
  EXPECT_GE(responsiveness.tested(), 5U);
  EXPECT_EQ(responsiveness.guilty(), 0U);
}

TEST(XcpSuspect, WhoeverKeepsHisWindowIsFound) {
  ResponsivenessTest responsiveness;
  play(responsiveness, {{.flow = 1, .window = 100e3, .deaf = true}}, 0, 200);
  EXPECT_GE(responsiveness.tested(), 20U);
  EXPECT_EQ(responsiveness.guilty(), responsiveness.tested());
  EXPECT_GE(responsiveness.slowest_verdict(), kRtt + kRtt * 3 / 4);
  EXPECT_LE(responsiveness.slowest_verdict(), kRtt * 2);
}

TEST(XcpSuspect, WhoeverNamesALongerRoundTripIsFound) {
  ResponsivenessTest responsiveness;
  play(responsiveness, {{.flow = 1, .window = 500e3, .claimed = 2}}, 125, 200);
  EXPECT_GE(responsiveness.tested(), 5U);
  EXPECT_EQ(responsiveness.guilty(), responsiveness.tested());
}

TEST(XcpSuspect, AFlowThatEndsUnderTestLeavesNoVerdict) {
  ResponsivenessTest responsiveness;
  responsiveness.test_every(200_ms);
  const Header h{.rtt_ns = 40'000'000, .flow = 0.04F * 1000 / 100e3F};
  EXPECT_EQ(responsiveness.feedback(1, h, 1000, 5, 1_s), 0);
  EXPECT_EQ(responsiveness.feedback(2, h, 1000, 5, 1_s + 10_ms), 5) << "one flow at a time";
  EXPECT_EQ(responsiveness.feedback(2, h, 1000, 5, 2_s), 5);
  EXPECT_EQ(responsiveness.tested(), 0U);
  EXPECT_EQ(responsiveness.feedback(2, h, 1000, 5, 2_s), 0) << "the next one";
}

TEST(XcpSuspect, WithoutAnIntervalNobodyIs) {
  ResponsivenessTest responsiveness;
  EXPECT_EQ(responsiveness.feedback(1, {.rtt_ns = 40'000'000, .flow = 0.04F * 1000 / 100e3F}, 1000,
                                    5, 1_s),
            5);
}

}  // namespace
}  // namespace turnpike::xcp
