// SPDX-License-Identifier: BSD-3-Clause
// Line charts over time as SVG, in the style of papers' figures.
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

/// A line. A point whose y is not finite (or not positive on a log axis) leaves a gap.
struct Series {
  std::string name = {};               // in the legend; empty: not in the legend
  std::vector<double> x = {}, y = {};  // of equal length, x ascending
  int colour = 0;                      // index into the palette, modulo its size
  bool step = false;                   // y holds until the next x
  bool reference = false;              // thin and dashed: a reference level
  enum class Marks : unsigned char { kLine, kPoints, kBoth };
  Marks marks = Marks::kLine;               // a line, a dot at each point, or dots and a line
  std::vector<double> low = {}, high = {};  // the ends of a bar through each point; empty: none
};

/// A shaded interval of x.
struct Band {
  double from = 0, to = 0;
};

struct Axis {
  std::string label = {};  // with its unit: "rate (Mbps)"
  bool log = false;
  // Fixed ends; otherwise 0 (linear axis) and the data's range.
  std::optional<double> min = {}, max = {};
  std::vector<std::string> categories = {};  // labels at 0, 1, 2 ... instead of numbers
};

struct Chart {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  std::vector<Band> bands = {};
  std::string band_name = {};     // in the legend, if there are bands
  int width = 760, height = 260;  // px
};

/// Colours after Okabe and Ito, distinct under common kinds of colour blindness and on paper;
/// without yellow, and the lightest darkened for thin lines.
std::string_view palette(int colour);

/// Returns one complete, self-contained <svg> element.
std::string svg(const Chart& chart);

}  // namespace turnpike::report
