// SPDX-License-Identifier: BSD-3-Clause
// Charts: round ticks, lines at the data, markup that any viewer accepts.
#include "common/report/chart.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/report/polyline.h"
#include "common/report/scale.h"
#include "tests/support/well_formed.h"

namespace turnpike::report {
namespace {

std::vector<std::string> labels(const Scale& s) {
  std::vector<std::string> all;
  for (const Tick& t : s.ticks())
    if (!t.label.empty()) all.push_back(t.label);
  return all;
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Scale, TicksAreRound) {
  using List = std::vector<std::string>;
  EXPECT_EQ(labels(Scale(0, 97, false, true, 5)), (List{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(labels(Scale(0, 15, false, false, 8)),
            (List{"0", "2", "4", "6", "8", "10", "12", "14"}));
  EXPECT_EQ(labels(Scale(0, .31, false, true, 4)), (List{"0.0", "0.1", "0.2", "0.3", "0.4"}));
  EXPECT_EQ(labels(Scale(0, 1.02, false, true, 5)),
            (List{"0.00", "0.25", "0.50", "0.75", "1.00", "1.25"}));
  EXPECT_EQ(labels(Scale(-1, 1, false, true, 4)), (List{"−1.0", "−0.5", "0.0", "0.5", "1.0"}));
  EXPECT_EQ(labels(Scale(.02, 300, true, true, 5)),
            (List{"0.01", "0.1", "1", "10", "100", "1000"}));
  EXPECT_NE(labels(Scale(0, 3e9, false, true, 4))[1].find("10<tspan"), std::string::npos);
}

RC_GTEST_PROP(Scale, AnyRangeCanBeDrawn, (double low, double high, bool log, bool widen)) {
  Scale s(low, high, log, widen, 6);
  s.onto(0, 100);
  RC_ASSERT(std::isfinite(s.min()) && std::isfinite(s.max()) && s.min() < s.max());
  RC_ASSERT(s.ticks().size() < 400u);
  double last = -1;
  for (const Tick& t : s.ticks()) {
    const double at = s.pixel(t.value);
    RC_ASSERT(at >= -0.01 && at <= 100.01 && at > last);
    last = at;
  }
}

TEST(Scale, HostileRangesToo) {
  const double inf = INFINITY;
  for (const auto& [low, high] : {std::pair{0., 0.},
                                  {5., 5.},
                                  {NAN, 1.},
                                  {-inf, inf},
                                  {1., -1.},
                                  {-3., -3.},
                                  {1e300, 1e301},
                                  {-1e308, 1e308},
                                  {1e-307, 1e308},
                                  {0., 1e-300},
                                  {1e9, 1e9 + 1e-6}})
    for (const bool log : {false, true}) {
      const Scale s(low, high, log, true, 5);
      EXPECT_LT(s.min(), s.max());
      EXPECT_FALSE(s.ticks().empty()) << low << " " << high << " " << log;
      EXPECT_LT(s.ticks().size(), 3000u);
    }
}

TEST(Polyline, GapsStepsAndEdges) {
  Scale x(0, 10, false, false, 5), y(0, 10, false, false, 5);
  x.onto(0, 100);
  y.onto(100, 0);
  const Series gap{.name = "", .x = {0, 1, 2, 3, 4}, .y = {1, 2, NAN, 3, 50}};
  EXPECT_EQ(path_data(gap, x, y, 0, 100), "M0.0 90.0L10.0 80.0M30.0 70.0L40.0 0.0");
  const Series step{.name = "", .x = {0, 5}, .y = {1, 2}, .colour = 0, .step = true};
  EXPECT_EQ(path_data(step, x, y, 0, 100), "M0.0 90.0L50.0 90.0L50.0 80.0");
  const Series beyond{.name = "", .x = {-1, 1, 2, 11}, .y = {1, 1, 1, 1}};
  EXPECT_EQ(path_data(beyond, x, y, 0, 100), "M10.0 90.0L20.0 90.0");
  EXPECT_EQ(path_data({}, x, y, 0, 100), "");
}

TEST(Polyline, ThinningKeepsThePeak) {
  Series s;
  for (int i = 0; i < 100000; ++i) s.x.push_back(i), s.y.push_back(i == 54321 ? 10 : i % 3);
  Scale x(0, 1e5, false, false, 5), y(0, 10, false, false, 5);
  x.onto(0, 500);
  y.onto(100, 0);
  const std::string path = path_data(s, x, y, 0, 100);
  EXPECT_LT(occurrences(path, "L"), 2000u);
  EXPECT_NE(path.find(" 0.0L"), std::string::npos);
}

TEST(Chart, SaysWhatItShows) {
  Chart c{.title = "Rate & <price>",
          .x = {.label = "time (s)"},
          .y = {.label = "rate (Mbps)"},
          .series = {{.name = "alice", .x = {0, 1, 2}, .y = {100, 50, 25}},
                     {.name = "b<o>b", .x = {1, 2}, .y = {50, 25}, .colour = 1},
                     {.name = "", .x = {0, 2}, .y = {40, 40}, .colour = 0, .reference = true}},
          .bands = {{.from = .5, .to = 1}},
          .band_name = "steady"};
  const std::string text = svg(c);
  EXPECT_EQ(xml_error(text), "");
  EXPECT_EQ(occurrences(text, "<path"), 3u);
  EXPECT_EQ(occurrences(text, "class=\"band\""), 2u);  // and its legend
  EXPECT_NE(text.find("b&lt;o&gt;b"), std::string::npos);
  EXPECT_NE(text.find("rate (Mbps)"), std::string::npos);
  EXPECT_NE(text.find("stroke-dasharray"), std::string::npos);
  EXPECT_EQ(text, svg(c));
}

TEST(Chart, MarksAndBarsStandAtTheirPoints) {
  const Series marked{.name = "s",
                      .x = {0, 1, 2},
                      .y = {5, NAN, 7},
                      .marks = Series::Marks::kPoints,
                      .low = {4, 1, 6},
                      .high = {6, 2, 9}};
  const std::string text = svg({.x = {.categories = {"1 Gbps", "a<b", "c"}}, .series = {marked}});
  EXPECT_EQ(xml_error(text), "");
  EXPECT_EQ(occurrences(text, "<path"), 0u);
  EXPECT_EQ(occurrences(text, "<circle"), 3u);  // two points and the legend
  EXPECT_NE(text.find(">a&lt;b<"), std::string::npos);
  // The axis covers the error bars: their upper end is not clipped at the frame.
  EXPECT_NE(text.find(">10.0<"), std::string::npos);
}

TEST(Chart, ColoursAreDistinct) {
  std::set<std::string_view> seen;
  for (int i = 0; i < 7; ++i) seen.insert(palette(i));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(palette(7), palette(0));
}

RC_GTEST_PROP(Chart, AnyDataGiveCleanMarkup, (const std::vector<double>& y, bool log, bool step)) {
  Series s{.name = "s", .x = {}, .y = y, .colour = 3, .step = step};
  for (size_t i = 0; i < y.size(); ++i) s.x.push_back(static_cast<double>(i));
  for (size_t i = 0; i < y.size(); i += 5) s.y[i] = i % 2 ? NAN : -INFINITY;
  const std::string text =
      svg({.title = "t", .x = {.label = "x"}, .y = {.label = "y", .log = log}, .series = {s}});
  RC_ASSERT(xml_error(text) == "");
  RC_ASSERT(text.find("nan") == std::string::npos && text.find("inf") == std::string::npos);
  RC_ASSERT(text.find("–") == std::string::npos);
}

TEST(Chart, LegendOfManyLinesLeavesRoomForThem) {
  Chart chart;
  for (int i = 0; i < 1000; ++i)
    chart.series.push_back({.name = "host-" + std::to_string(i), .x = {0, 1}, .y = {0, 1.0 * i}});
  const std::string element = svg(chart);
  EXPECT_NE(element.find(">host-0<"), std::string::npos);
  EXPECT_EQ(element.find(">host-999<"), std::string::npos);
  const size_t more = element.find("and ");
  ASSERT_NE(more, std::string::npos);
  EXPECT_GT(std::stoi(element.substr(more + 4)), 900);
  chart.series.resize(3);
  EXPECT_EQ(svg(chart).find("more"), std::string::npos);
}

}  // namespace
}  // namespace turnpike::report
