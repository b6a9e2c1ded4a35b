// SPDX-License-Identifier: BSD-3-Clause
#include "bench/pacing_check.h"

#include <gtest/gtest.h>

namespace turnpike::bench {
namespace {

TEST(PacingCheck, GapsTooLongAndTooShortAreErrorsAlike) {
  PacingCheck check(100_us, 2);
  Nanos now = 1_s;
  for (int i = 0; i < 100; ++i) check.sent(0, now += 100_us);
  EXPECT_EQ(check.gap_errors().max(), 0U);
  check.sent(1, now + 30_us);  // the first packet of another flow ends no gap
  check.sent(0, now + 130_us);
  check.sent(0, now + 200_us);
  EXPECT_EQ(check.gap_errors().count(), 101U);
  EXPECT_EQ(check.gap_errors().max(), 30'000U);
}

TEST(PacingCheck, AFlowMayHaveAGapOfItsOwn) {
  PacingCheck check(100_us, 2);
  check.set_gap(1, 70_us);
  for (const size_t flow : {0, 1}) {
    check.sent(flow, 1_s);
    check.sent(flow, 1_s + 100_us);
  }
  EXPECT_EQ(check.gap_errors().max(), 30'000U);
  EXPECT_EQ(check.gap_errors().quantile(0.5), 0U);
}

TEST(PacingCheck, TheLongestTimeWithoutAPollBeginsWithTheFirst) {
  PacingCheck check(100_us, 1);
  for (const Nanos at : {1_s, 1_s + 2_us, 1_s + 9_us, 1_s + 10_us}) check.polled(at);
  EXPECT_EQ(check.longest(), 7_us);
}

}  // namespace
}  // namespace turnpike::bench
