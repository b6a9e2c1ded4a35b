// SPDX-License-Identifier: BSD-3-Clause
// The set of slots against std::set.
#include "common/time/slot_set.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

TEST(SlotSet, HasWhatTheSortedSetHas) {
  std::mt19937_64 random(1);
  for (const size_t size : {size_t{1}, size_t{64}, size_t{65}, size_t{4096}, size_t{300'000}}) {
    SlotSet slots(size);
    std::set<size_t> right;
    const auto any = [&] { return static_cast<size_t>(random() % size); };
    for (int step = 0; step < 20'000; ++step) {
      // Dense at times, empty at others; members near one another as well as far apart.
      const bool grow = random() % 64 < (step / 1000 % 2 == 0 ? 40U : 20U);
      const size_t i = random() % 2 ? any() : std::min(any() % 128, size - 1);
      if (grow) {
        ASSERT_EQ(slots.insert(i), right.insert(i).second);
      }
      if (!grow && right.erase(i) == 1) slots.erase(i);
      ASSERT_EQ(slots.contains(i), right.contains(i));

      const size_t from = any(), end = from + static_cast<size_t>(random() % (size - from + 1));
      const auto next = right.lower_bound(from);
      if (next != right.end() && *next < end) {
        ASSERT_EQ(slots.next(from, end), *next);
      } else {
        ASSERT_GE(slots.next(from, end), end);
      }
    }
  }
}

TEST(SlotSet, FindsAcrossManyEmptyWords) {
  SlotSet slots(size_t{1} << 21);
  slots.insert(3);
  slots.insert(2'000'000);
  EXPECT_EQ(slots.next(0, 1 << 21), 3U);
  EXPECT_EQ(slots.next(4, 1 << 21), 2'000'000U);
  EXPECT_GE(slots.next(2'000'001, 1 << 21), 1U << 21);
  slots.erase(3);
  EXPECT_EQ(slots.next(0, 1 << 21), 2'000'000U);
  EXPECT_GE(slots.next(0, 1000), 1000U);
}

}  // namespace
}  // namespace turnpike
