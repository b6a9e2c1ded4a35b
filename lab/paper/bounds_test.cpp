// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/bounds.h"

#include <gtest/gtest.h>

namespace turnpike::lab {
namespace {

using Kind = CheckSpec::Kind;

bool wider(Kind kind, double a, double b, const char* paper) {
  return wider_than_paper({.kind = kind, .a = a, .b = b, .paper = paper});
}

TEST(Bounds, APrintedNumberStandsForAllThatRoundToIt) {
  EXPECT_FALSE(wider(Kind::kAtLeast, 98.5, 0, "99"));
  EXPECT_TRUE(wider(Kind::kAtLeast, 98.4, 0, "99"));
  EXPECT_TRUE(wider(Kind::kAtLeast, 98.5, 0, "99.0"));
  EXPECT_FALSE(wider(Kind::kAtMost, 99.5, 0, "99"));
  EXPECT_TRUE(wider(Kind::kAtMost, 99.6, 0, "99"));
  EXPECT_FALSE(wider(Kind::kWithin, 98.5, 99.5, "99"));
  EXPECT_TRUE(wider(Kind::kWithin, 98.5, 99.6, "99"));
  EXPECT_FALSE(wider(Kind::kNear, 0.027, 0.01, "0.027"));
  EXPECT_TRUE(wider(Kind::kNear, 0.027, 0.05, "0.027"));
  EXPECT_TRUE(wider(Kind::kNear, 98.2, 0.001, "99")) << "the center is another value";
  EXPECT_FALSE(wider(Kind::kNear, -2, 0.2, "-2"));
  EXPECT_TRUE(wider(Kind::kNear, -2, 0.3, "-2"));
}

TEST(Bounds, NumbersWithAnExponentRoundAtTheirLastDigit) {
  EXPECT_FALSE(wider(Kind::kAtMost, 1.5e-18, 0, "1e-18"));
  EXPECT_TRUE(wider(Kind::kAtMost, 1.6e-18, 0, "1e-18"));
  EXPECT_FALSE(wider(Kind::kAtMost, 2.55e6, 0, "2.5e+6"));
  EXPECT_TRUE(wider(Kind::kAtMost, 2.56e6, 0, "2.5e+6"));
}

TEST(Bounds, NumbersMayHaveWordsOfRangesBesideThem) {
  EXPECT_FALSE(wider(Kind::kAtMost, 0.25, 0, "about 0.2"));
  EXPECT_TRUE(wider(Kind::kAtMost, 0.26, 0, "about 0.2"));
  EXPECT_FALSE(wider(Kind::kWithin, 1, 500, "at most 500"));
  EXPECT_TRUE(wider(Kind::kWithin, 1, 501, "at most 500"));
  EXPECT_FALSE(wider(Kind::kWithin, 2, 3, "2 to 3"));
  EXPECT_TRUE(wider(Kind::kWithin, 2, 3.1, "2 to 3"));
}

TEST(Bounds, WordsNameNoTolerance) {
  EXPECT_TRUE(wider(Kind::kNear, 1, 0.1, "equal"));
  EXPECT_TRUE(wider(Kind::kWithin, 0.9, 1.1, "close to 1"));
  EXPECT_FALSE(wider(Kind::kAtLeast, 1, 0, "near 100 %"));
  EXPECT_FALSE(wider(Kind::kAtLeast, 1, 0, ""));
  EXPECT_FALSE(wider(Kind::kBelow, 0, 0, "3"));
}

}  // namespace
}  // namespace turnpike::lab
