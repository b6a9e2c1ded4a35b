// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/link_changes.h"

#include <gtest/gtest.h>

namespace turnpike {
namespace {

constexpr const char* kReason = "no carrier on eth0";

TEST(LinkChanges, GivesALineForEachChangeIfTheyAreRare) {
  LinkChanges link("east", true);
  EXPECT_EQ(link.line(true, kReason, 1_s), std::nullopt);
  EXPECT_EQ(link.line(false, kReason, 2_s), "link east is down: no carrier on eth0");
  EXPECT_EQ(link.line(false, kReason, 4_s), std::nullopt);
  EXPECT_EQ(link.line(true, kReason, 5_s), "link east is up again after 3.00 s");
}

TEST(LinkChanges, HasNoDurationForALinkThatHasNotGoneDown) {
  LinkChanges link("east", false);
  EXPECT_EQ(link.line(true, kReason, 1_s), "link east is up");
}

TEST(LinkChanges, GathersTheChangesOfALinkThatFlaps) {
  LinkChanges link("east", true);
  size_t lines = 0;
  std::string last;
  constexpr int kCalls = 1000;  // for 10 s, every 10 ms
  for (int i = 0; i < kCalls; ++i) {
    if (auto line = link.line(i % 2 != 0, kReason, 1_s + 10_ms * i)) {
      last = *line;
      ++lines;
    }
  }
  EXPECT_EQ(lines, 10U);
  EXPECT_EQ(last, "link east is down: no carrier on eth0, after 100 changes");
  EXPECT_EQ(link.line(true, kReason, 20_s), "link east is up again after 0.01 s, after 99 changes");
}

TEST(LinkChanges, SaysThatALinkIsBackInItsFirstState) {
  LinkChanges link("east", true);
  ASSERT_TRUE(link.line(false, kReason, 1_s));
  EXPECT_EQ(link.line(true, kReason, 1100_ms), std::nullopt);
  EXPECT_EQ(link.line(false, kReason, 1200_ms), std::nullopt);
  EXPECT_EQ(link.line(false, kReason, 2_s),
            "link east is down: no carrier on eth0, after 2 changes");
}

}  // namespace
}  // namespace turnpike
