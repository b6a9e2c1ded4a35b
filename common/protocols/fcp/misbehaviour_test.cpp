// SPDX-License-Identifier: BSD-3-Clause
// Flows that break their promises, for experiments.
#include <gtest/gtest.h>

#include "tests/support/fcp_sender.h"

namespace turnpike::fcp {
namespace {

using namespace testing;

TEST(FcpConduct, ABoasterPromisesAllForAPacket) {
  Sender s{.law =
               FlowUnderTest<Flow>(with({{kConduct, static_cast<double>(Misbehaviour::kBoast)}}))};
  s.law.set_target(Budget(1));
  s.state.unsent = kPacket;
  s.open(8e-8);
  const PacketNote n = s.send();
  EXPECT_NEAR(s.law.allowance.committed, 1, 1e-6);
  s.law.on_ack(s.state, n, echo_of_price(8e-8).data());
  s.send();
  EXPECT_EQ(s.last.preload, 0) << "it takes nothing back";
  EXPECT_NEAR(s.law.allowance.granted, 1, 1e-6);
}

TEST(FcpConduct, ATakerGivesBackWhatItGoesOnSpending) {
  Sender s{.law =
               FlowUnderTest<Flow>(with({{kConduct, static_cast<double>(Misbehaviour::kTake)}}))};
  s.law.set_target(Budget(1));
  s.open(8e-8);
  for (int i = 0; i < 400 && s.law.allowance.granted < 0.999; ++i)
    s.law.on_ack(s.state, s.send(), echo_of_price(8e-8).data());
  for (int i = 0; i < 5; ++i) {
    s.law.on_ack(s.state, s.send(), echo_of_price(8e-8).data());
    EXPECT_EQ(s.last.preload, -1);
    EXPECT_NEAR(s.law.allowance.granted, 1, 2e-3);
  }
}

}  // namespace
}  // namespace turnpike::fcp
