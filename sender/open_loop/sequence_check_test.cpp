// SPDX-License-Identifier: BSD-3-Clause
// Tests RFC 4737's classes: an example, and against a check that stores every number.
#include "sender/open_loop/sequence_check.h"

#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace turnpike::sender {
namespace {

using enum SequenceCheck::Arrival;

TEST(SequenceCheck, OfTheRfcsExample) {
  // RFC 4737, table 1: 1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11: three are reordered.
  SequenceCheck check;
  int reordered = 0;
  for (const uint64_t s : {1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11})
    reordered += check.note(s) == kReordered;
  EXPECT_EQ(reordered, 3);
  EXPECT_EQ(check.next(), 12U);
}

TEST(SequenceCheck, CopiesAreNotReordered) {
  SequenceCheck check;
  EXPECT_EQ(check.note(0), kInOrder);
  EXPECT_EQ(check.note(0), kDuplicate);
  EXPECT_EQ(check.note(2), kInOrder);
  EXPECT_EQ(check.note(1), kReordered);
  EXPECT_EQ(check.note(1), kDuplicate);
}

TEST(SequenceCheck, WhatLiesTooFarBackOrAhead) {
  SequenceCheck check;
  EXPECT_EQ(check.note(SequenceCheck::kWindow * 3), kInOrder);
  EXPECT_EQ(check.note(0), kTooOld);
  EXPECT_EQ(check.note(SequenceCheck::kWindow * 3 - 1), kReordered);
  EXPECT_EQ(check.note(uint64_t{1} << 47), kAbsurd);
  EXPECT_EQ(check.next(), SequenceCheck::kWindow * 3 + 1);
}

TEST(SequenceCheck, AsOneThatForgetsNothing) {
  std::mt19937_64 random(7);
  auto check = std::make_unique<SequenceCheck>();
  std::set<uint64_t> seen;
  uint64_t next = 0;
  for (int i = 0; i < 300'000; ++i) {
    const uint64_t step = random() % 100;
    uint64_t s = next;
    if (step < 5) s = next + random() % 300;
    if (step == 5) s = next + random() % (3 * SequenceCheck::kWindow);
    if (step > 80) s = next - std::min(next, random() % (SequenceCheck::kWindow - 64));
    const SequenceCheck::Arrival expected = s >= next                ? kInOrder
                                            : !seen.insert(s).second ? kDuplicate
                                                                     : kReordered;
    seen.insert(s);
    ASSERT_EQ(check->note(s), expected) << i << ": " << s << " where " << next << " is next";
    next = std::max(next, s + 1);
    ASSERT_EQ(check->next(), next);
  }
}

}  // namespace
}  // namespace turnpike::sender
