// SPDX-License-Identifier: BSD-3-Clause
// Metrics and charts of a small folder, written by hand.
#include "lab/paper/metrics.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/report/run_data.h"
#include "lab/paper/charts.h"
#include "lab/paper/references.h"
#include "lab/paper/show.h"
#include "tests/support/well_formed.h"

namespace turnpike::lab {
namespace {

constexpr const char* kLinks =
    "t,link,price,input\n"
    "0.1,b,1,0.5\n0.1,c,9,9\n0.2,b,2,1.5\n0.2,c,9,9\n0.3,b,3,\n0.4,b,4,1.25\n";
constexpr const char* kRatesCsv =
    "t,host,flow,sent_mbps\n"
    "0.1,h,,30\n0.1,h,f,10\n0.2,h,,70\n0.2,h,f,20\n0.3,h,,80\n0.3,h,f,60\n";
constexpr const char* kFlows =
    "id,flow,start_s,bytes,completion_s\n1,w,0,1000,0.1\n2,w,0,1000,0.3\n3,w,0,50000,0.5\n4,w,0,"
    "9000,\n";

class PaperMetrics : public ::testing::Test {
 protected:
  PaperMetrics() {
    for (const uint64_t seed : {1, 2, 3}) {
      const std::string folder = run_folder(out, e, e.runs[0], seed);
      std::filesystem::create_directories(folder);
      const std::string used = std::to_string(seed);
      write(folder + "/summary.json",
            R"({"links":{"b":{"used":)" + used + R"(}},"x":{"y":4,"z":6}})");
      write(folder + "/links.csv", kLinks);
      write(folder + "/rates.csv", kRatesCsv);
      write(folder + "/flows.csv", kFlows);
    }
  }
  ~PaperMetrics() override { std::filesystem::remove_all(out); }

  static void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(report::write_text(path, text));
  }
  double metric(MetricSpec m) {
    m.name = "m";
    m.runs = {"plain"};
    e.metrics = {m};
    return metrics_of(e, out).at("m");
  }
  static SeriesSpec link(const std::string& column, double from = 0, double to = kOpenEnd) {
    return {.kind = SeriesSpec::Kind::kLink, .name = "b", .column = column, .from = from, .to = to};
  }

  const std::string out =
      (std::filesystem::temp_directory_path() / ("turnpike-paper-" + std::to_string(::getpid())))
          .string();
  Experiment e{.id = "e",
               .figure = "1",
               .title = "t",
               .about = "",
               .runs = {{.name = "plain", .file = "f", .seeds = {1, 2, 3}}}};
  ResultFiles files;
};

TEST_F(PaperMetrics, SummariesOverSeeds) {
  const FromSummary used{.paths = {"links.b.used"}};
  EXPECT_EQ(metric({.source = used}), 2);
  EXPECT_EQ(metric({.over = Over::kMin, .source = used}), 1);
  EXPECT_EQ(metric({.over = Over::kMax, .source = used}), 3);
}

TEST_F(PaperMetrics, SeveralNumbersOfASummaryBecomeOne) {
  EXPECT_EQ(metric({.source = FromSummary{{"x.y", "x.z"}, Take::kSum}}), 10);
  EXPECT_EQ(metric({.source = FromSummary{{"x.y", "x.z"}, Take::kMin}}), 4);
  EXPECT_TRUE(std::isnan(metric({.source = FromSummary{{"x.y", "x.none"}, Take::kSum}})));
}

TEST_F(PaperMetrics, AStarStandsForEveryKey) {
  EXPECT_EQ(metric({.source = FromSummary{{"x.*"}, Take::kSum}}), 10);
  EXPECT_TRUE(std::isnan(metric({.source = FromSummary{{"none.*"}, Take::kSum}})));
  EXPECT_EQ(metric({.source = FromSummary{{"x.y", "x.none"}, Take::kSum, 0}}), 4);
}

TEST_F(PaperMetrics, ASweepHasAValuePerRun) {
  e.runs.push_back({.name = "again", .file = "f", .seeds = {1}});
  std::filesystem::create_directories(run_folder(out, e, e.runs[1], 1));
  write(run_folder(out, e, e.runs[1], 1) + "/summary.json", R"({"links": {"b": {"used": 7}}})");
  const FromSummary used{.paths = {"links.b.used"}};
  e.metrics = {{.name = "m", .runs = {"plain", "again"}, .over = Over::kMax, .source = used}};
  EXPECT_EQ(by_run(e.metrics[0], e, out, files, {}), (std::vector<double>{3, 7}));
  EXPECT_EQ(metrics_of(e, out).at("m"), 7);
}

TEST_F(PaperMetrics, MetricsBecomeOne) {
  e.metrics = {{.name = "a", .source = Constant{2}},
               {.name = "b", .source = Constant{4}},
               {.name = "both", .source = Combined{{"a", "b"}, Take::kMax}}};
  EXPECT_EQ(metrics_of(e, out).at("both"), 4);
}

TEST_F(PaperMetrics, CompletionsBySize) {
  for (const uint64_t seed : e.runs[0].seeds)
    write(run_folder(out, e, e.runs[0], seed) + "/flows.csv",
          "start_s,bytes,completion_s\n0,10,1\n1,11,2\n1,20,4\n0,21,8\n");
  EXPECT_EQ(metric({.source = FromCompletions{.above = 10, .most = 20}}), 3);
  EXPECT_EQ(metric({.source = FromCompletions{.above = 10, .most = 20, .take = Take::kDeviation}}),
            1);
  EXPECT_EQ(metric({.source = FromCompletions{.from = 3, .to = 5}}), 4)
      << "the one that ends at 5 s";
  EXPECT_EQ(metric({.source = FromCompletions{}}), 3.75);
  e.metrics = {{.name = "n", .source = Constant{2}},
               {.name = "m", .runs = {"plain"}, .source = FromCompletions{.first = "n"}}};
  EXPECT_EQ(metrics_of(e, out).at("m"), 1.5) << "those that end at 1 and 3 s";
  e.metrics[0].source = Constant{5};
  EXPECT_TRUE(std::isnan(metrics_of(e, out).at("m"))) << "not so many have ended";
}

TEST(Taken, SpreadAndFairness) {
  EXPECT_NEAR(taken({1, 3}, Take::kDeviation), 1, 1e-12);
  EXPECT_EQ(taken({2, 2, 2}, Take::kJain), 1);
  EXPECT_EQ(taken({1, 0}, Take::kJain), 0.5);
}

TEST_F(PaperMetrics, AReferenceFarAwayTellsWhy) {
  e.metrics = {
      {.name = "close", .reference = Reference{100, "never told"}, .source = Constant{95}},
      {.name = "far", .unit = "%", .reference = Reference{50, "because"}, .source = Constant{0.4}}};
  const auto compared = compare_references(e, metrics_of(e, out));
  ASSERT_EQ(compared.size(), 2);
  EXPECT_FALSE(compared[0].far());
  EXPECT_EQ(compared[0].why, "");
  EXPECT_NEAR(compared[1].difference, -0.2, 1e-12);
  EXPECT_EQ(compared[1].why, "because");
}

TEST_F(PaperMetrics, SpreadIsThatOfTheSeedsOfOneRun) {
  const MetricSpec m{.name = "m", .runs = {"plain"}, .source = FromSummary{{"links.b.used"}}};
  EXPECT_EQ(spread(m, e, out, files, {}), std::pair(1.0, 3.0));
  EXPECT_FALSE(spread({.name = "m", .source = Constant{1}}, e, out, files, {}));
  e.runs[0].seeds = {1};
  EXPECT_FALSE(spread(m, e, out, files, {}));
}

TEST_F(PaperMetrics, ARunWithoutResultsLeavesNoNumber) {
  std::filesystem::remove(run_folder(out, e, e.runs[0], 2) + "/summary.json");
  EXPECT_TRUE(std::isnan(metric({.source = FromSummary{{"x.y"}}})));
  EXPECT_TRUE(std::isnan(metric({.source = FromSummary{{"x.none"}, Take::kMean, 0}})));
}

TEST_F(PaperMetrics, SeriesOfLinksHostsAndFlows) {
  const auto column = [](SeriesSpec::Kind kind, const char* name) {
    return FromSeries{{.kind = kind, .name = name, .column = "sent_mbps"}};
  };
  EXPECT_EQ(metric({.source = FromSeries{link("price")}}), 2.5);
  EXPECT_EQ(metric({.source = column(SeriesSpec::Kind::kHost, "h")}), 60);
  EXPECT_EQ(metric({.source = column(SeriesSpec::Kind::kFlow, "f")}), 30);
  EXPECT_TRUE(std::isnan(metric({.source = column(SeriesSpec::Kind::kFlow, "h")})));
  EXPECT_TRUE(std::isnan(metric({.source = FromSeries{link("none")}})));
}

TEST_F(PaperMetrics, SeriesWithinASpan) {
  // Samples stand for the time before them: the one at `from` is not in the span.
  EXPECT_EQ(metric({.source = FromSeries{link("price", 0.1, 0.3), Take::kFirst}}), 2);
  EXPECT_EQ(metric({.source = FromSeries{link("price", 0.1, 0.3), Take::kLast}}), 3);
  EXPECT_EQ(metric({.source = FromSeries{link("input"), Take::kMax}}), 1.5);
}

TEST_F(PaperMetrics, FiguresOfFiles) {
  const std::string file = run_folder(out, e, e.runs[0], 2) + "/summary.json";
  e.metrics = {{.name = "there", .source = FromFile{file, "links.b.used"}},
               {.name = "no such figure", .source = FromFile{file, "links.c.used"}},
               {.name = "no such file", .source = FromFile{out + "/none.json", "links.b.used"}}};
  const Metrics all = metrics_of(e, out);
  EXPECT_EQ(all.at("there"), 2);
  EXPECT_TRUE(std::isnan(all.at("no such figure")));
  EXPECT_TRUE(std::isnan(all.at("no such file")));
}

TEST_F(PaperMetrics, ConstantsAndRatios) {
  e.metrics = {{.name = "a", .source = Constant{6}},
               {.name = "b", .source = Constant{4}},
               {.name = "c", .source = Ratio{"a", "b"}}};
  EXPECT_EQ(metrics_of(e, out).at("c"), 1.5);
}

TEST_F(PaperMetrics, ChartsDrawAllKindsOfLines) {
  e.metrics = {{.name = "m", .source = Constant{2}}};
  const ChartSpec spec{
      .title = "t",
      .y = "y",
      .lines = {{.name = "s", .scale = 10, .source = LineSpec::Samples{"plain", link("price")}},
                {.source = LineSpec::Level{5}},
                {.source = LineSpec::Mark{"m", "m"}},
                {.source = LineSpec::BySize{"plain"}},
                {.source = LineSpec::Distribution{"plain"}},
                {.source = LineSpec::ByTime{"plain", 10}}}};
  const auto chart = chart_of(spec, e, metrics_of(e, out), out, files);
  EXPECT_EQ(chart.series[0].y, (std::vector<double>{10, 20, 30, 40}));
  EXPECT_EQ(chart.series[1].x[0], 0);
  EXPECT_EQ(chart.series[2].x, std::vector<double>{2});
  EXPECT_EQ(chart.series[4].y.back(), 1);
  EXPECT_EQ(chart.series[5].x.size(), 1U);
  EXPECT_EQ(report::xml_error(report::svg(chart)), "");
}

TEST_F(PaperMetrics, AFileIsReadOnce) {
  const std::string file = run_folder(out, e, e.runs[0], 1) + "/summary.json";
  EXPECT_EQ(files.json(file)["x"]["y"], 4);
  write(file, "{}");
  EXPECT_EQ(files.json(file)["x"]["y"], 4);
  EXPECT_TRUE(files.json(out + "/none").is_null());
  EXPECT_EQ(files.csv(out + "/none"), nullptr);
}

// As `turnpike paper` does: an experiment on each thread.
TEST_F(PaperMetrics, AndPagesAreTheSameOnSeveralThreads) {
  std::vector<Experiment> experiments;
  for (int i = 0; i < 20; ++i) {
    Experiment& one = experiments.emplace_back(e);
    one.title += std::to_string(i);
    one.metrics = {{.name = "m",
                    .runs = {"plain"},
                    .source = FromSeries{link("price", 0.1 * (i % 3)), Take::kMean}}};
    one.own = {{.metric = "m", .kind = CheckSpec::Kind::kAtLeast, .a = 1}};
    one.charts = {{.title = "t",
                   .y = "y",
                   .lines = {{.name = "s", .source = LineSpec::Samples{"plain", link("price")}}}}};
  }
  const auto page = [&](unsigned count) {
    const Threads threads(count);
    std::vector<EvaluatedExperiment> all(experiments.size());
    threads.for_each(all.size(), [&](size_t i) {
      all[i].experiment = &experiments[i];
      all[i].metrics = metrics_of(experiments[i], out);
      all[i].evaluation = evaluate(experiments[i], all[i].metrics);
    });
    return paper_page(all, out, threads);
  };
  const std::string one = page(1);
  EXPECT_NE(one.find("t19"), std::string::npos);
  EXPECT_EQ(page(2), one);
  EXPECT_EQ(page(8), one);
}

TEST_F(PaperMetrics, CompletionTimesBySize) {
  const auto s = by_size(read_completions(files, run_folder(out, e, e.runs[0], 1)));
  EXPECT_EQ(s.x, (std::vector<double>{1000, 50000}));
  EXPECT_EQ(s.y, (std::vector<double>{0.2, 0.5}));
}

TEST(Quantiles, AreTheLeastValuesThatTheirShareDoesNotExceed) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  EXPECT_EQ(taken(values, Take::kMedian), 50);
  EXPECT_EQ(taken(values, Take::kP90), 90);
  EXPECT_EQ(taken(values, Take::kP99), 99);
  EXPECT_EQ(taken({3}, Take::kP99), 3);
}

TEST(Distribution, EndsAtAllValues) {
  const auto few = distribution({3, 1, 2, 2});
  EXPECT_EQ(few.x, (std::vector<double>{1, 2, 2, 3}));
  EXPECT_EQ(few.y, (std::vector<double>{0.25, 0.5, 0.75, 1}));
  const auto many = distribution(std::vector<double>(1001, 5.0));
  EXPECT_EQ(many.y.size(), 200U);
  EXPECT_EQ(many.y.back(), 1);
  EXPECT_TRUE(distribution({}).x.empty());
}

TEST(ByTime, MeansOfTheFlowsThatEndedInEachInterval) {
  const auto s = by_time({{1, 1, 1}, {0.5, 1.5, 4}, {0.5, 2, 5.1}}, 2);
  EXPECT_EQ(s.x, (std::vector<double>{2, 6}));
  EXPECT_EQ(s.y, (std::vector<double>{1, 4}));
}

TEST(Settling, IsTheLastTimeOutsideTheBand) {
  const Samples s{{1, 2, 3, 4, 5, 6}, {50, 120, 94, 104, 97, 100}};
  Settle settle{.series = {}, .after = {0}, .target = 100, .within = 0.05};
  EXPECT_EQ(settling_time(s, settle), 3);
  settle.after = {3};
  EXPECT_EQ(settling_time(s, settle), 0);
  settle.after = {0, 2};
  EXPECT_EQ(settling_time(s, settle), 3) << "the longest counts";
  settle.after = {0};
  settle.watch = 2;
  EXPECT_TRUE(std::isinf(settling_time(s, settle))) << "still outside at the end";
  settle.after = {10};
  EXPECT_TRUE(std::isnan(settling_time(s, settle))) << "nothing to see";
}

TEST(TimeBelow, CountsWhatSamplesStandFor) {
  EXPECT_NEAR(time_below({{0.1, 0.2, 0.3, 0.4}, {50, 80, 70, 75}}, 75), 0.2, 1e-12);
  EXPECT_TRUE(std::isnan(time_below({}, 75)));
}

TEST(Binned, MeansStandAtTheEndsOfTheirIntervals) {
  const Samples s = binned({{1.1, 1.2, 1.3, 1.4, 1.5}, {1, 3, 5, 7, 9}}, 1, 0.2);
  ASSERT_EQ(s.x.size(), 3);
  EXPECT_NEAR(s.x[0], 1.2, 1e-12);
  EXPECT_NEAR(s.x[2], 1.6, 1e-12);
  EXPECT_EQ(s.y, (std::vector<double>{2, 6, 9}));
}

}  // namespace
}  // namespace turnpike::lab
