// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/claims.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lab/paper/show.h"
#include "tests/support/well_formed.h"

namespace turnpike::lab {
namespace {

using Kind = ClaimSpec::Kind;

ClaimResult one(double value, ClaimSpec claim, const std::string& unit = "") {
  claim.metric = "m";
  const Experiment e{.id = "e",
                     .figure = "4",
                     .title = "t",
                     .about = "",
                     .metrics = {{.name = "m", .unit = unit}, {.name = "other", .unit = unit}},
                     .claims = {claim}};
  return evaluate(e, {{"m", value}, {"other", 5}})[0];
}

TEST(Claims, BoundsHoldAtTheirEnds) {
  EXPECT_TRUE(one(2, {.kind = Kind::kAtLeast, .a = 2}).met);
  EXPECT_FALSE(one(1.9, {.kind = Kind::kAtLeast, .a = 2}).met);
  EXPECT_TRUE(one(2, {.kind = Kind::kAtMost, .a = 2}).met);
  EXPECT_FALSE(one(2.1, {.kind = Kind::kAtMost, .a = 2}).met);
  EXPECT_TRUE(one(2, {.kind = Kind::kWithin, .a = 2, .b = 3}).met);
  EXPECT_FALSE(one(3.1, {.kind = Kind::kWithin, .a = 2, .b = 3}).met);
  EXPECT_TRUE(one(103, {.kind = Kind::kNear, .a = 100, .b = 0.03}).met);
  EXPECT_FALSE(one(96.9, {.kind = Kind::kNear, .a = 100, .b = 0.03}).met);
  EXPECT_TRUE(one(6, {.kind = Kind::kAbove, .other = "other"}).met);
  EXPECT_FALSE(one(5, {.kind = Kind::kAbove, .other = "other"}).met);
  EXPECT_TRUE(one(4, {.kind = Kind::kBelow, .other = "other"}).met);
}

TEST(Claims, WhatCannotBeToldIsNotMet) {
  for (const Kind kind :
       {Kind::kAtLeast, Kind::kAtMost, Kind::kWithin, Kind::kNear, Kind::kAbove, Kind::kBelow}) {
    const ClaimResult v = one(std::nan(""), {.kind = kind, .other = "other"});
    EXPECT_FALSE(v.met);
    EXPECT_EQ(v.here, "–");
  }
  const ClaimResult never =
      one(std::numeric_limits<double>::infinity(), {.kind = Kind::kAtMost, .a = 1});
  EXPECT_FALSE(never.met);
  EXPECT_EQ(never.here, "never");
}

TEST(Claims, AreInTheUnitThatIsShown) {
  const ClaimResult v = one(0.985, {.kind = Kind::kAtLeast, .a = 98, .paper = "99"}, "%");
  EXPECT_TRUE(v.met);
  EXPECT_EQ(v.here, "98.5 %");
  EXPECT_EQ(v.paper, "99 %");
  EXPECT_EQ(v.claim(), "m ≥ 98 %");
  EXPECT_EQ(one(1, {.kind = Kind::kNear, .a = 20, .b = 0.03}, "Mbps").bound, "20 Mbps ± 3 %");
  EXPECT_EQ(one(1, {.kind = Kind::kAbove, .other = "other", .paper = "soon"}, "s").paper, "soon");
}

TEST(Baseline, OnlyWhatWasMetCanBeLost) {
  auto baseline = Baseline::parse(R"([{"id":"e","claim":"m ≥ 2","met":true},)"
                                  R"({"id":"e","claim":"m ≥ 3","met":false}])");
  ASSERT_TRUE(baseline) << baseline.error();
  std::vector<ClaimResult> results{
      one(1, {.kind = Kind::kAtLeast, .a = 2}), one(1, {.kind = Kind::kAtLeast, .a = 3}),
      one(1, {.kind = Kind::kAtLeast, .a = 4}), one(2, {.kind = Kind::kAtLeast, .a = 2})};
  baseline->compare(results);
  EXPECT_TRUE(results[0].lost);
  EXPECT_FALSE(results[1].lost);
  EXPECT_FALSE(results[2].lost);
  EXPECT_FALSE(results[3].lost);
}

TEST(Baseline, AnUpdateReplacesWhatWasJudgedAndKeepsTheRest) {
  auto baseline = Baseline::parse(R"([{"id":"e","claim":"gone","met":true},)"
                                  R"({"id":"other","claim":"stays","met":true}])");
  ASSERT_TRUE(baseline);
  baseline->update({one(5, {.kind = Kind::kAtLeast, .a = 2})});
  EXPECT_EQ(baseline->text(),
            "[\n  {\"id\":\"e\",\"claim\":\"m ≥ 2\",\"met\":true},\n"
            "  {\"id\":\"other\",\"claim\":\"stays\",\"met\":true}\n]\n");
  EXPECT_EQ(Baseline::parse(baseline->text())->text(), baseline->text());
}

TEST(Baseline, WhatIsNoneIsAnError) {
  for (const char* text : {"", "{}", "[1]", R"([{"id":"e","claim":"c"}])"})
    EXPECT_FALSE(Baseline::parse(text)) << text;
  EXPECT_TRUE(Baseline::read("/no/such/baseline.json")) << "none yet";
}

TEST(Show, LinesAndPageTellEachClaimAndWhyItIsNotMet) {
  const Experiment e{.id = "e", .figure = "4", .title = "A <title>", .about = "b"};
  EvaluatedClaims evaluated{
      .experiment = &e,
      .results = {one(5, {.kind = Kind::kAtLeast, .a = 2, .paper = "3"}),
                  one(5, {.kind = Kind::kAtMost, .a = 2, .why = "it is hard"})}};
  EXPECT_EQ(verdict_lines(evaluated),
            "  4  m  3  5  ≥ 2      met\n"
            "  4  m     5  ≤ 2  not met\n"
            "      m ≤ 2: it is hard\n");
  EXPECT_EQ(count_text({evaluated}), "1 of 2 claims met");
  evaluated.results[1].lost = true;
  EXPECT_EQ(count_text({evaluated}), "1 of 2 claims met, 1 NOT MET any more");
  const std::string page = paper_page({evaluated}, "/no/such/folder");
  EXPECT_EQ(report::xml_error(page.substr(page.find("<html"))), "");
  EXPECT_NE(page.find("A &lt;title&gt;"), std::string::npos);
  EXPECT_NE(page.find("NOT MET"), std::string::npos);
}

}  // namespace
}  // namespace turnpike::lab
