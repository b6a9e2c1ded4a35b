// SPDX-License-Identifier: BSD-3-Clause
#include "sender/receiver/replay_window.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace turnpike::sender {
namespace {

RC_GTEST_PROP(ReplayWindow, AgreesWithASet, ()) {
  ReplayWindow window;
  std::set<uint64_t> received;
  uint64_t highest = 0;
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1500, 3000));
  for (const int step : steps) {
    const auto signed_sequence = static_cast<int64_t>(highest) + step % 200;
    // Some steps go far: past the whole window, and behind it.
    const int64_t at = step > 2500    ? signed_sequence + 5000
                       : step < -1200 ? signed_sequence - 1100
                                      : signed_sequence;
    if (at < 0) continue;
    const auto sequence = static_cast<uint64_t>(at);
    if (window.too_old(sequence)) {
      RC_ASSERT(sequence + ReplayWindow::kSize - 64 < highest);
      continue;
    }
    const bool fresh = received.insert(sequence).second;
    RC_ASSERT(window.add(sequence) == fresh);
    highest = std::max(highest, sequence + 1);
    RC_ASSERT(window.highest() == highest);
    const uint64_t first = window.run_before(sequence);
    RC_ASSERT(first <= sequence && sequence - first < 64);
    for (uint64_t s = first; s <= sequence; ++s) RC_ASSERT(received.contains(s));
    if (first % 64 != 0) RC_ASSERT(!received.contains(first - 1));
  }
}

TEST(ReplayWindow, KnowsNothingAtTheBeginning) {
  ReplayWindow window;
  EXPECT_FALSE(window.too_old(0));
  EXPECT_TRUE(window.add(0));
  EXPECT_FALSE(window.add(0));
  EXPECT_TRUE(window.add(63));
  EXPECT_EQ(window.run_before(63), 63U);
}

}  // namespace
}  // namespace turnpike::sender
