// SPDX-License-Identifier: BSD-3-Clause
#include "common/parallel/threads.h"

#include <atomic>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

TEST(Threads, CallOncePerIndexAndShowWhatWasWritten) {
  for (const unsigned count : {1U, 2U, 5U}) {
    const Threads threads(count);
    for (const size_t n : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
      std::vector<int> calls(n);
      threads.for_each(n, [&](size_t i) { ++calls[i]; });
      EXPECT_EQ(calls, std::vector<int>(n, 1)) << count << " threads";
    }
  }
}

// A call may use the same threads for parts of its own work.
TEST(Threads, MayBeNested) {
  const Threads threads(3);
  std::vector<std::vector<int>> calls(20, std::vector<int>(20));
  threads.for_each(calls.size(), [&](size_t i) {
    threads.for_each(calls[i].size(), [&](size_t j) { ++calls[i][j]; });
  });
  EXPECT_EQ(calls, std::vector(20, std::vector<int>(20, 1)));
}

TEST(Threads, OfTwoObjectsWorkSideBySide) {
  const Threads outer(2);
  for (int turn = 0; turn < 50; ++turn) {
    const Threads inner(4);
    std::atomic<size_t> sum = 0;
    outer.for_each(10, [&](size_t i) { inner.for_each(10, [&](size_t j) { sum += i * j; }); });
    EXPECT_EQ(sum, 45U * 45U);
  }
}

std::atomic<int> begun = 0, ended = 0;

TEST(Threads, HooksAreCalledInPairsBeforeTheObjectHasGone) {
  for (int turn = 0; turn < 50; ++turn) {
    {
      const Threads threads(4, {.begin = [] { ++begun; }, .end = [] { ++ended; }});
      threads.for_each(100, [](size_t) {});
    }
    ASSERT_EQ(begun, ended) << "turn " << turn;
  }
}

}  // namespace
}  // namespace turnpike
