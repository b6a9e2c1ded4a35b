// SPDX-License-Identifier: BSD-3-Clause
// Threads of a world: each has an lcore id while it lives, and has given it back when they are
// destroyed.
#include "lab/simulator/lcore_threads.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <rte_lcore.h>

#include "tests/support/eal.h"

namespace turnpike::lab {
namespace {

/// Lcore ids in use: EAL's threads and registered ones.
unsigned lcores() {
  unsigned count = 0;
  rte_lcore_iterate([](unsigned, void* n) { return ++*static_cast<unsigned*>(n), 0; }, &count);
  return count;
}

/// Makes `count` threads wait for each other. Returns the lcore ids in use when all had come, 0 if
/// one had not within a second.
unsigned lcores_of_all(Threads& threads, size_t count) {
  std::atomic<size_t> came = 0;
  std::atomic<unsigned> seen = 0;
  constexpr unsigned kPatience = 1'000'000;  // turns of the other threads
  threads.for_each(count, [&](size_t) {
    ++came;
    for (unsigned i = 0; came < count && i < kPatience; ++i) std::this_thread::yield();
    if (came == count && rte_lcore_id() != LCORE_ID_ANY) seen = lcores();
  });
  return seen;
}

TEST(LcoreThreads, HaveLcoreIdsUntilTheyEnd) {
  const unsigned before = lcores();
  unsigned most = 0;
  for (unsigned turn = 0; turn < 2 * RTE_MAX_LCORE; ++turn) {  // more threads than EAL has ids
    {
      Threads threads(2, kLcoreHooks);
      most = std::max(most, lcores_of_all(threads, 2));
    }
    ASSERT_EQ(lcores(), before) << "turn " << turn;
  }
  EXPECT_EQ(most, before + 1);
}

}  // namespace
}  // namespace turnpike::lab
