// SPDX-License-Identifier: BSD-3-Clause
// Line charts over time as SVG, in the manner of a paper's figures.
//
// Example:
//
//     Chart chart{.title = "Rates", .x = {.label = "time (s)"}, .y = {.label = "rate (Mbps)"}};
//     chart.series.push_back({.name = "alice", .x = {0, 1, 2}, .y = {0, 40, 50}});
//     chart.bands.push_back({.from = 1, .to = 2});
//     chart.band_name = "alice alone";
//     const std::string element = svg(chart);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace turnpike::report {

/// A line. Points whose y is not finite (or not positive on a log axis) leave a gap.
struct Series {
  std::string name = {};               // in the legend; empty: not listed
  std::vector<double> x = {}, y = {};  // of equal length, x ascending
  int colour = 0;                      // of the palette, taken round in a circle
  bool step = false;                   // y holds until the next x
  bool reference = false;              // thin and dashed: a level to compare with
  enum class Marks : unsigned char { kLine, kPoints, kBoth };
  Marks marks = Marks::kLine;               // a line, a dot at each point, or dots and a line
  std::vector<double> low = {}, high = {};  // the ends of a bar through each point; empty: none
};

/// A stretch of x that is shaded.
struct Band {
  double from = 0, to = 0;
};

struct Axis {
  std::string label = {};  // with its unit: "rate (Mbps)"
  bool log = false;
  // Fixed ends; otherwise 0 (linear) and what the data need.
  std::optional<double> min = {}, max = {};
  std::vector<std::string> categories = {};  // names for 0, 1, 2 ... in place of numbers
};

struct Chart {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  std::vector<Band> bands = {};
  std::string band_name = {};     // in the legend, if there are bands
  int width = 760, height = 260;  // px
};

/// Distinct under the common kinds of colour blindness and on paper: after Okabe and Ito, yellow
/// left out and the lightest darkened so that thin lines carry.
std::string_view palette(int colour);

/// One <svg> element, complete and self-contained.
std::string svg(const Chart& chart);

}  // namespace turnpike::report
