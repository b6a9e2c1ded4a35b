// SPDX-License-Identifier: BSD-3-Clause
#include "lab/sweep/sweep.h"

#include <cmath>

#include <gtest/gtest.h>

#include "common/report/csv.h"
#include "tests/support/well_formed.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;

json summary(double utilization) {
  return {
      {"links",
       {{"b.2", {{"law", "fcp"}, {"utilization", utilization}, {"queue_delay_ms", {{"mean", 2}}}}},
        {"access", {{"law", "none"}, {"utilization", 0.1}}}}},
      {"flows", {{"completed", 0}, {"jain", 0.9}}},
      {"hosts",
       {{"alice", {{"budget", 1}, {"goodput_mbps", 40}}},
        {"sink", {{"budget", 0}, {"goodput_mbps", 0}}}}}};
}

Sweep sweep() {
  Sweep s{.file = "f.yaml", .axes = {{"preset", {"paper", "a<b"}}}, .seeds = {1, 2, 3}};
  s.combinations = {{{{"preset", "paper"}}, {summary(0.5), summary(0.9), summary(0.6)}},
                    {{{"preset", "a<b"}}, {summary(0.4), json(), summary(0.2)}}};
  s.metrics = default_metrics(s);
  return s;
}

TEST(Sweep, ByDefaultTellsWhatLinksWithALawFlowsAndSendersCameTo) {
  EXPECT_EQ(sweep().metrics,
            (std::vector<std::string>{"links.b.2.utilization", "links.b.2.queue_delay_ms.mean",
                                      "flows.jain", "hosts.alice.goodput_mbps"}));
}

TEST(Sweep, NamesMetricsThatNoRunHas) {
  Sweep s = sweep();
  s.metrics = {"flows.jain", "flows.jane", "flows"};
  EXPECT_EQ(metrics_without_values(s), (std::vector<std::string>{"flows.jane", "flows"}));
}

TEST(Sweep, CsvHasARowPerCombinationAndMetric) {
  const auto csv = report::Csv::parse(sweep_csv(sweep()));
  ASSERT_EQ(csv.rows(), 8);
  EXPECT_EQ(csv.text(0, "preset"), "paper");
  EXPECT_EQ(csv.text(0, "metric"), "links.b.2.utilization");
  EXPECT_EQ(csv.number(0, "median"), 0.6);
  EXPECT_EQ(csv.number(0, "min"), 0.5);
  EXPECT_EQ(csv.number(0, "max"), 0.9);
  EXPECT_NEAR(csv.number(4, "median"), 0.3, 1e-9);
  EXPECT_EQ(csv.number(4, "seeds"), 2) << "a run that failed has no value";
}

TEST(Sweep, JsonHoldsEverySeedsValue) {
  const json out = sweep_json(sweep());
  EXPECT_EQ(out["rows"][4]["settings"]["preset"], "a<b");
  EXPECT_EQ(out["rows"][4]["values"], json({0.4, nullptr, 0.2}));
}

TEST(Sweep, PageIsWellFormed) {
  const std::string page = sweep_page(sweep());
  EXPECT_EQ(report::xml_error(page.substr(page.find("<html"))), "");
  EXPECT_NE(page.find("a&lt;b"), std::string::npos);
}

TEST(Values, PathsFindKeysThatHoldDots) {
  const json tree{{"a", {{"b", 1}, {"b.c", {{"d", 2}}}}}, {"x", "text"}};
  EXPECT_EQ(value_at(tree, "a.b"), 1);
  EXPECT_EQ(value_at(tree, "a.b.c.d"), 2);
  for (const char* none : {"", "a", "a.b.c", "x", "a.b.d", "y.z"})
    EXPECT_TRUE(std::isnan(value_at(tree, none))) << none;
  EXPECT_TRUE(std::isnan(value_at(json(), "a")));
}

TEST(Values, StatisticsLeaveOutWhatIsNoNumber) {
  const Statistics s = statistics({3, std::nan(""), 1, 2, 10});
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 10);
  EXPECT_EQ(s.count, 4);
  EXPECT_TRUE(std::isnan(statistics({}).median));
}

}  // namespace
}  // namespace turnpike::lab
