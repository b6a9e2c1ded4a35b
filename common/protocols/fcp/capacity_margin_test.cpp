// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/capacity_margin.h"

#include <cmath>

#include <gtest/gtest.h>

namespace turnpike::fcp::capacity_margin_test {
namespace {

constexpr double kTarget = 1e-3, kRtt = 0.1;

/// The margin after ten memories of that queueing delay, s, and that share of first rounds.
double margin(double queue, double first) {
  CapacityMargin m(kTarget);
  for (int i = 0; i < 64000; ++i) m.pass(queue, first, 0.1 * kRtt, kRtt);
  return m.share();
}

TEST(CapacityMargin, IsProportionalBetweenOneTargetAndTwo) {
  EXPECT_EQ(margin(0, 0.5), 0);
  EXPECT_EQ(margin(0.99 * kTarget, 0.5), 0);
  EXPECT_NEAR(margin(1.5 * kTarget, 0.5), CapacityMargin::kMax / 2, 1e-9);
  EXPECT_NEAR(margin(2.1 * kTarget, 0.5), CapacityMargin::kMax, 1e-12);
  EXPECT_NEAR(margin(1, 0.5), CapacityMargin::kMax, 1e-12);
}

TEST(CapacityMargin, NeedsFirstRoundsAndOthers) {
  EXPECT_EQ(margin(1, 0), 0);
  EXPECT_EQ(margin(1, 1), 0);
  EXPECT_EQ(margin(1, 1.1), 0);  // measured at different times, so it may exceed 1
  EXPECT_NEAR(margin(1, 1 - CapacityMargin::kShare / 3), CapacityMargin::kMax / 3, 1e-12);
  EXPECT_NEAR(margin(1, CapacityMargin::kShare / 3), CapacityMargin::kMax / 3, 1e-12);
}

TEST(CapacityMargin, OneBurstIsNoStandingQueue) {
  CapacityMargin m(kTarget);
  for (int i = 0; i < 8; ++i) m.pass(1, 0.5, kRtt, kRtt);  // 1 s of queue for eight round trips
  EXPECT_NEAR(m.share(), 0, 1e-12);
}

TEST(CapacityMargin, ForgetsByTheRoundTrip) {
  CapacityMargin m(kTarget);
  for (int i = 0; i < 640; ++i) m.pass(8 * kTarget, 0.5, kRtt, kRtt);
  for (int i = 0; i < 64; ++i) m.pass(0, 0.5, kRtt, kRtt);
  EXPECT_NEAR(m.share(), CapacityMargin::kMax, 1e-12);  // 8 / e targets, nearly 3
  for (int i = 0; i < 64; ++i) m.pass(0, 0.5, kRtt, kRtt);
  EXPECT_NEAR(m.share(), CapacityMargin::kMax * (8 * std::exp(-2) - 1), 1e-5);  // 1.08
}

}  // namespace
}  // namespace turnpike::fcp::capacity_margin_test
