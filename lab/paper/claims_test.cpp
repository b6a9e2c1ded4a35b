// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/claims.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "lab/paper/show.h"
#include "tests/support/well_formed.h"

namespace turnpike::lab {
namespace {

using Kind = CheckSpec::Kind;

Experiment experiment(CheckSpec check, const std::string& unit = "") {
  check.metric = "m";
  Experiment e{.id = "e",
               .figure = "4",
               .title = "A <title>",
               .about = "b",
               .metrics = {{.name = "m", .unit = unit}, {.name = "other", .unit = unit}}};
  e.own = {std::move(check)};
  return e;
}

Evaluation evaluated(double value, CheckSpec check, const std::string& unit = "") {
  return evaluate(experiment(std::move(check), unit), {{"m", value}, {"other", 5}});
}

CheckResult one(double value, CheckSpec check, const std::string& unit = "") {
  return evaluated(value, std::move(check), unit).own[0];
}

TEST(Checks, BoundsHoldAtTheirEnds) {
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

TEST(Checks, AreNotMetWithoutAValue) {
  for (const Kind kind :
       {Kind::kAtLeast, Kind::kAtMost, Kind::kWithin, Kind::kNear, Kind::kAbove, Kind::kBelow}) {
    const CheckResult v = one(std::nan(""), {.kind = kind, .other = "other"});
    EXPECT_FALSE(v.met);
    EXPECT_EQ(v.here, "–");
  }
  const CheckResult never =
      one(std::numeric_limits<double>::infinity(), {.kind = Kind::kAtMost, .a = 1});
  EXPECT_FALSE(never.met);
  EXPECT_EQ(never.here, "never");
}

TEST(Checks, AreInTheUnitThatIsShown) {
  const CheckResult v =
      one(0.985, {.kind = Kind::kAtLeast, .a = 98, .paper = "99", .model = "98.2"}, "%");
  EXPECT_TRUE(v.met);
  EXPECT_EQ(v.here, "98.5 %");
  EXPECT_EQ(v.paper, "99 %");
  EXPECT_EQ(v.model, "98.2 %");
  EXPECT_EQ(v.check(), "m ≥ 98 %");
  EXPECT_EQ(one(1, {.kind = Kind::kNear, .a = 20, .b = 0.03}, "Mbps").bound, "20 Mbps ± 3 %");
  const CheckResult compared =
      one(1, {.kind = Kind::kAbove, .other = "other", .paper = "soon"}, "s");
  EXPECT_EQ(compared.paper, "soon");
  EXPECT_EQ(compared.other, "5 s");
}

TEST(Checks, ShowTheReferenceAsModelUnlessThereIsOne) {
  Experiment e = experiment({.kind = Kind::kAtLeast, .a = 1}, "s");
  e.metrics[0].reference = Reference{.value = 3};
  EXPECT_EQ(evaluate(e, {{"m", 2}, {"other", 5}}).own[0].model, "3 s");
  e.own[0].model = "2.5";
  EXPECT_EQ(evaluate(e, {{"m", 2}, {"other", 5}}).own[0].model, "2.5 s");
}

TEST(Claims, AreMetIfAllTheirChecksAre) {
  Experiment e = experiment({.kind = Kind::kAtLeast, .a = 2});
  e.own[0].metric = "m";
  e.claims = {{.id = "e.c1", .says = "s", .at = "1", .checks = {e.own[0], e.own[0]}}};
  e.claims[0].checks[1].a = 3;
  EXPECT_TRUE(evaluate(e, {{"m", 3}, {"other", 5}}).claims[0].met());
  EXPECT_FALSE(evaluate(e, {{"m", 2}, {"other", 5}}).claims[0].met());
  size_t checks = 0;
  evaluate(e, {{"m", 2}, {"other", 5}}).each([&](const CheckResult&) { ++checks; });
  EXPECT_EQ(checks, 3);
}

TEST(Claims, NeedAReasonOnlyWhereACheckIsNotMet) {
  const CheckSpec silent{.kind = Kind::kAtLeast, .a = 2};
  const CheckSpec reasoned{.kind = Kind::kAtLeast, .a = 2, .why = "hard"};
  EXPECT_TRUE(faults(evaluated(3, silent)).empty());
  EXPECT_TRUE(faults(evaluated(1, reasoned)).empty());
  EXPECT_EQ(faults(evaluated(1, silent)),
            std::vector<std::string>{"e: m ≥ 2: is not met, and has no reason"});
  EXPECT_EQ(faults(evaluated(3, reasoned)),
            std::vector<std::string>{"e: m ≥ 2: is met, and has a reason for not being met"});
}

TEST(Baseline, OnlyAMetCheckCanBeLost) {
  auto baseline = Baseline::parse(R"([{"id":"e","check":"m ≥ 2","met":true},)"
                                  R"({"id":"e","check":"m ≥ 3","met":false}])");
  ASSERT_TRUE(baseline) << baseline.error();
  const auto lost = [&](double value, double bound) {
    Evaluation e = evaluated(value, {.kind = Kind::kAtLeast, .a = bound});
    baseline->compare(e);
    return e.own[0].lost;
  };
  EXPECT_TRUE(lost(1, 2));
  EXPECT_FALSE(lost(1, 3));
  EXPECT_FALSE(lost(1, 4));
  EXPECT_FALSE(lost(2, 2));
}

TEST(Baseline, RemembersTheMutationThatBreaksACheck) {
  Evaluation e = evaluated(3, {.kind = Kind::kAtLeast, .a = 2});
  EXPECT_EQ(unbroken(e).size(), 1);
  e.own[0].broken_by = "half";
  EXPECT_TRUE(unbroken(e).empty());
  Baseline baseline;
  baseline.update("e", e);
  const auto read = Baseline::parse(baseline.text());
  ASSERT_TRUE(read) << read.error();
  Evaluation later = evaluated(3, {.kind = Kind::kAtLeast, .a = 2});
  read->compare(later);
  EXPECT_EQ(later.own[0].broken_by, "") << "what was played now counts";
  read->recall_mutants(later);
  EXPECT_EQ(later.own[0].broken_by, "half");
  EXPECT_TRUE(unbroken(evaluated(1, {.kind = Kind::kAtLeast, .a = 2})).empty()) << "is not met";
}

TEST(Baseline, AnUpdateReplacesOneExperimentAndKeepsTheRest) {
  auto baseline = Baseline::parse(R"([{"id":"e","check":"gone","met":true},)"
                                  R"({"id":"other","check":"stays","met":true}])");
  ASSERT_TRUE(baseline);
  baseline->update("e", evaluated(5, {.kind = Kind::kAtLeast, .a = 2}));
  EXPECT_EQ(baseline->text(),
            "[\n  {\"id\":\"e\",\"check\":\"m ≥ 2\",\"met\":true},\n"
            "  {\"id\":\"other\",\"check\":\"stays\",\"met\":true}\n]\n");
  EXPECT_EQ(Baseline::parse(baseline->text())->text(), baseline->text());
}

TEST(Baseline, WhatIsNoneIsAnError) {
  for (const char* text : {"", "{}", "[1]", R"([{"id":"e","check":"c"}])"})
    EXPECT_FALSE(Baseline::parse(text)) << text;
  EXPECT_TRUE(Baseline::read("/no/such/baseline.json")) << "none yet";
}

TEST(Show, LinesAndPageHaveEachCheckAndWhyItIsNotMet) {
  Experiment e = experiment({.kind = Kind::kAtMost, .a = 2, .why = "it is hard"});
  e.paper = "FCP";
  e.runs = {{.name = "r", .file = "./configs/a.yaml", .seeds = {1, 2}},
            {.name = "s", .file = "configs/a.yaml"}};
  e.own.push_back({.metric = "m", .kind = Kind::kAbove, .other = "other", .why = "it is"});
  e.claims = {{.id = "e.c1",
               .says = "It is quick & fair.",
               .at = "section 2",
               .checks = {{.metric = "m",
                           .kind = Kind::kAtLeast,
                           .a = 2,
                           .paper = "3",
                           .wider = "another simulator"}}}};
  const Metrics metrics{{"m", 5}, {"other", 5}};
  EvaluatedExperiment shown{
      .experiment = &e, .metrics = metrics, .evaluation = evaluate(e, metrics)};
  EXPECT_EQ(verdict_lines(shown),
            "  e.c1  m  3  5          ≥ 2      met\n"
            "  ours  m     5          ≤ 2  not met\n"
            "  ours  m     5  > other = 5  not met\n"
            "      m ≤ 2: it is hard\n"
            "      m > other: it is\n");
  EXPECT_EQ(count_text({shown}), "1 of 1 claims of the papers met, 0 of 2 checks of our own");
  shown.evaluation.own[0].lost = true;
  EXPECT_EQ(count_text({shown}),
            "1 of 1 claims of the papers met, 0 of 2 checks of our own, 1 NOT MET any more");
  const std::string page = paper_page({shown}, "/no/such/folder", Threads());
  EXPECT_EQ(report::xml_error(page.substr(page.find("<html"))), "");
  for (const char* text :
       {"A &lt;title&gt;", "NOT MET", "It is quick &amp; fair. (section 2)", "another simulator",
        "it is hard", "<tr class=\"group\"><td colspan=\"5\">",
        "turnpike paper e: 2 runs of configs/a.yaml, up to 2 seeds"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace turnpike::lab
