// SPDX-License-Identifier: BSD-3-Clause
#include "lab/sweep/axes.h"

#include <gtest/gtest.h>

namespace turnpike::lab {
namespace {

using Texts = std::vector<std::string>;

TEST(Axes, ValuesAreSplitAtCommas) {
  EXPECT_EQ(split_values("a,b , c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(split_values("10 Mbps"), (Texts{"10 Mbps"}));
  EXPECT_EQ(split_values("a,,b"), (Texts{"a", "", "b"}));
}

TEST(Axes, CommasWithinBracketsBracesAndQuotesAreTheValues) {
  EXPECT_EQ(split_values("none,{fcp: {alpha: 2, window: 3}}"),
            (Texts{"none", "{fcp: {alpha: 2, window: 3}}"}));
  EXPECT_EQ(split_values("[a, b],[c]"), (Texts{"[a, b]", "[c]"}));
  EXPECT_EQ(split_values(R"("a,b",'c,"d',e)"), (Texts{R"("a,b")", R"('c,"d')", "e"}));
  EXPECT_EQ(split_values(R"("]",{a: "}",b: 1})"), (Texts{R"("]")", R"({a: "}",b: 1})"}));
}

TEST(Axes, AnAxisIsAPathAndItsValues) {
  const auto axis = parse_axis("links.b.law={fcp: {alpha: 1}},none");
  ASSERT_TRUE(axis);
  EXPECT_EQ(axis->path, "links.b.law");
  EXPECT_EQ(axis->values, (Texts{"{fcp: {alpha: 1}}", "none"}));
  for (const char* wrong : {"", "a", "=1", "a=", "a=1,,2", "a=1,"})
    EXPECT_FALSE(parse_axis(wrong)) << wrong;
}

TEST(Axes, SeedsAreNumbersAndRanges) {
  EXPECT_EQ(parse_seeds("1..3"), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(parse_seeds("7"), (std::vector<uint64_t>{7}));
  EXPECT_EQ(parse_seeds("1, 5..6"), (std::vector<uint64_t>{1, 5, 6}));
  for (const char* wrong : {"", "a", "3..1", "1..", "..3", "-1", "1..100000", "1,,2"})
    EXPECT_FALSE(parse_seeds(wrong)) << wrong;
}

TEST(Axes, CombinationsLetTheLastAxisChangeFastest) {
  const std::vector<Axis> axes{{"a", {"1", "2"}}, {"b", {"x", "y"}}};
  std::string told;
  for (const auto& settings : combinations(axes))
    told += settings[0].path + settings[0].value + settings[1].path + settings[1].value + " ";
  EXPECT_EQ(told, "a1bx a1by a2bx a2by ");
  EXPECT_EQ(combinations({}).size(), 1);
}

}  // namespace
}  // namespace turnpike::lab
