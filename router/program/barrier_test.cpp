// SPDX-License-Identifier: BSD-3-Clause
// Threads are held between two polls and never during one; one that does not come is named.
#include "router/program/barrier.h"

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike::router {
namespace {

/// Closes, waits until full, at most `turns` turns of 1 ms after the first spins.
bool gather(Barrier& b, int turns = 20'000) {
  b.close();
  for (int i = 0; i < turns && !b.full(); ++i) {
    if (i > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::yield();
  }
  return b.full();
}

TEST(Barrier, NoThreadPollsWhileItIsFull) {
  constexpr unsigned kThreads = 3;
  constexpr int kChanges = 2000;
  Barrier b;
  b.resize(kThreads);
  int shared = 0;  // without a lock: the barrier orders all uses
  std::atomic<bool> end{false};
  std::vector<int> seen(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      while (!end.load()) {
        b.pass(t);
        const int now = shared;
        EXPECT_GE(now, seen[t]);
        seen[t] = now;
      }
      b.leave(t);
    });
  for (int i = 0; i < kChanges; ++i) {
    ASSERT_TRUE(gather(b));
    ++shared;
    b.open();
  }
  end = true;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(shared, kChanges);
}

TEST(Barrier, AThreadThatHasEndedDoesNotMatter) {
  Barrier b;
  b.resize(2);
  b.leave(0);
  b.leave(1);
  b.close();
  EXPECT_TRUE(b.full());
  b.open();
}

TEST(Barrier, NamesTheThreadThatDoesNotCome) {
  Barrier b;
  b.resize(3);
  std::atomic<bool> end{false};
  std::thread one([&] {
    while (!end.load()) b.pass(1);
    b.leave(1);
  });
  b.leave(0);
  EXPECT_FALSE(gather(b, 1100));  // thread 2 is stuck in a poll
  EXPECT_EQ(b.missing(), "2");
  b.open();
  std::thread two([&] {  // and comes too late
    while (!end.load()) b.pass(2);
    b.leave(2);
  });
  EXPECT_TRUE(gather(b)) << "the next change finds all";
  b.open();
  end = true;
  one.join();
  two.join();
}

}  // namespace
}  // namespace turnpike::router
