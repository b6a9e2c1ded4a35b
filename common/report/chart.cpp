// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/report/markup.h"
#include "common/report/number.h"
#include "common/report/polyline.h"
#include "common/report/scale.h"

namespace turnpike::report {
namespace {

constexpr double kFont = 12;        // px; about 8.5 pt on paper
constexpr double kCharacter = 6.3;  // px, mean width of one at that size
constexpr double kMaxLegend = 0.4;  // of the height
constexpr double kLegendRow = 18, kSample = 22, kLegendGap = 18;

struct Frame {
  double left, right, top, bottom;
};

std::string px(double v) { return fixed(v, 1); }

std::string line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return "<line x1=\"" + px(x1) + "\" y1=\"" + px(y1) + "\" x2=\"" + px(x2) + "\" y2=\"" + px(y2) +
         "\" " + std::string(attributes) + "/>\n";
}

/// `content` is already markup.
std::string text(double x, double y, std::string_view attributes, std::string_view content) {
  return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" " + std::string(attributes) + ">" +
         std::string(content) + "</text>\n";
}

Scale scale_for(const Chart& chart, const Axis& axis, bool vertical, int wanted) {
  if (!axis.categories.empty()) return Scale(axis.categories);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto take = [&](const std::vector<double>& values) {
    for (const double v : values)
      if (std::isfinite(v) && (!axis.log || v > 0))
        low = std::min(low, v), high = std::max(high, v);
  };
  for (const Series& s : chart.series) {
    take(vertical ? s.y : s.x);
    if (vertical) take(s.low), take(s.high);
  }
  if (!(low <= high)) low = axis.log ? 0.1 : 0, high = 1;
  if (!axis.log && vertical) low = std::min(0.0, low);
  return {axis.min.value_or(low), axis.max.value_or(high), axis.log, vertical && !axis.max, wanted};
}

std::string stroke_of(const Series& s) {
  return "fill=\"none\" stroke=\"" + std::string(palette(s.colour)) +
         "\" stroke-linejoin=\"round\"" +
         (s.reference ? " stroke-width=\"1\" stroke-dasharray=\"5 3\"" : " stroke-width=\"1.6\"");
}

/// Error bars of a series' points, and their dots.
std::string marks_of(const Series& s, const Scale& x, const Scale& y, const Frame& f) {
  std::string out;
  const auto at = [&](double v) { return std::clamp(y.pixel(v), f.top, f.bottom); };
  const std::string stroke = "stroke=\"" + std::string(palette(s.colour)) + "\"";
  const size_t n = std::min(s.x.size(), s.y.size());
  for (size_t i = 0; i < n; ++i) {
    if (!x.shows(s.x[i]) || !y.shows(s.y[i]) || !x.holds(s.x[i])) continue;
    const double px_x = x.pixel(s.x[i]);
    if (i < s.low.size() && i < s.high.size() && y.shows(s.low[i]) && y.shows(s.high[i])) {
      out += line(px_x, at(s.low[i]), px_x, at(s.high[i]), stroke);
      for (const double end : {s.low[i], s.high[i]})
        out += line(px_x - 3, at(end), px_x + 3, at(end), stroke);
    }
    if (s.marks != Series::Marks::kLine)
      out += "<circle cx=\"" + px(px_x) + "\" cy=\"" + px(at(s.y[i])) + "\" r=\"3\" fill=\"" +
             std::string(palette(s.colour)) + "\"/>\n";
  }
  return out;
}

/// Draws samples and names in rows above the frame, at most `most` px high; returns their height.
double legend(const Chart& chart, double left, double right, double top, double most,
              std::string& out) {
  constexpr double kMore = 110;  // px for "and 1000 more"
  const double last = top + kLegendRow * std::max(0.0, std::floor(most / kLegendRow) - 1);
  size_t omitted = 0;
  double x = left, y = top;
  const auto entry = [&](const std::string& name, const auto& sample) {
    // Names are UTF-8; bytes overstate the width of the few that are not ASCII.
    const double width = kSample + 6 + kCharacter * static_cast<double>(name.size()) + kLegendGap;
    if (omitted > 0 || (y >= last && x > left && x + width > right - kMore)) {
      ++omitted;
      return;
    }
    if (x > left && x + width > right) x = left, y += kLegendRow;
    sample(x, y + kLegendRow / 2);
    out += text(x + kSample + 6, y + kLegendRow / 2 + 4, "", escape(name));
    x += width;
  };
  for (const Series& s : chart.series)
    if (!s.name.empty())
      entry(s.name, [&](double sx, double sy) {
        if (s.marks != Series::Marks::kPoints) out += line(sx, sy, sx + kSample, sy, stroke_of(s));
        if (s.marks != Series::Marks::kLine)
          out += "<circle cx=\"" + px(sx + kSample / 2) + "\" cy=\"" + px(sy) +
                 "\" r=\"3\" fill=\"" + std::string(palette(s.colour)) + "\"/>\n";
      });
  if (!chart.bands.empty() && !chart.band_name.empty())
    entry(chart.band_name, [&](double sx, double sy) {
      out += "<rect x=\"" + px(sx) + "\" y=\"" + px(sy - 6) + "\" width=\"" + px(kSample) +
             "\" height=\"12\" class=\"band\"/>\n";
    });
  if (omitted > 0)
    out += text(x, y + kLegendRow / 2 + 4, "", "and " + std::to_string(omitted) + " more");
  return x > left || y > top ? y + kLegendRow + 4 - top : 0;
}

std::string axes(const Chart& chart, const Frame& f, const Scale& x, const Scale& y) {
  std::string out;
  for (const Tick& t : y.ticks()) {
    const double at = y.pixel(t.value);
    if (!t.label.empty()) {
      out += line(f.left, at, f.right, at, "class=\"grid\"");
      out += text(f.left - 7, at + 4, "text-anchor=\"end\"", t.label);
    }
    out += line(f.left - (t.label.empty() ? 2 : 4), at, f.left, at, "class=\"axis\"");
  }
  for (const Tick& t : x.ticks()) {
    const double at = x.pixel(t.value);
    out += line(at, f.bottom, at, f.bottom + 4, "class=\"axis\"");
    out += text(at, f.bottom + 17, "text-anchor=\"middle\"", t.label);
  }
  out += line(f.left, f.top, f.left, f.bottom, "class=\"axis\"");
  out += line(f.left, f.bottom, f.right, f.bottom, "class=\"axis\"");
  out +=
      text((f.left + f.right) / 2, f.bottom + 34, "text-anchor=\"middle\"", escape(chart.x.label));
  const double middle = (f.top + f.bottom) / 2;
  out += text(14, middle, "text-anchor=\"middle\" transform=\"rotate(-90 14 " + px(middle) + ")\"",
              escape(chart.y.label));
  return out;
}

}  // namespace

std::string_view palette(int colour) {
  static constexpr std::array<std::string_view, 7> kColours{
      "#0072b2", "#d55e00", "#009e73", "#aa4499", "#b07d00", "#56b4e9", "#222222"};
  return kColours[static_cast<size_t>(std::abs(colour)) % kColours.size()];
}

std::string svg(const Chart& chart) {
  const double width = chart.width, height = chart.height;
  const std::string size = std::to_string(chart.width) + " " + std::to_string(chart.height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size +
                    "\" width=\"" + std::to_string(chart.width) + "\" height=\"" +
                    std::to_string(chart.height) +
                    "\" role=\"img\" font-family=\"Helvetica, Arial, " +
                    "'DejaVu Sans', sans-serif\" font-size=\"" + px(kFont) + "\" fill=\"#222\">\n" +
                    "<title>" + escape(chart.title) + "</title>\n" +
                    "<style>.grid{stroke:#e2e2e2}.axis{stroke:#222}.band{fill:#f1f3f6}</style>\n";
  Frame f{.left = 62, .right = width - 14, .top = 8, .bottom = height - 42};
  f.top += legend(chart, f.left, f.right, 2, kMaxLegend * height, out);

  Scale x = scale_for(chart, chart.x, false, static_cast<int>((f.right - f.left) / 70));
  Scale y = scale_for(chart, chart.y, true, std::max(2, static_cast<int>((f.bottom - f.top) / 40)));
  x.onto(f.left, f.right);
  y.onto(f.bottom, f.top);
  for (const Band& b : chart.bands) {
    const double from = std::clamp(x.pixel(b.from), f.left, f.right);
    const double to = std::clamp(x.pixel(b.to), f.left, f.right);
    if (to > from)
      out += "<rect x=\"" + px(from) + "\" y=\"" + px(f.top) + "\" width=\"" + px(to - from) +
             "\" height=\"" + px(f.bottom - f.top) + "\" class=\"band\"/>\n";
  }
  out += axes(chart, f, x, y);
  for (const bool reference : {false, true})  // reference levels are drawn last, on top
    for (const Series& s : chart.series) {
      if (s.reference != reference) continue;
      const std::string path =
          s.marks == Series::Marks::kPoints ? "" : path_data(s, x, y, f.top, f.bottom);
      if (!path.empty()) out += "<path d=\"" + path + "\" " + stroke_of(s) + "/>\n";
      out += marks_of(s, x, y, f);
    }
  return out + "</svg>\n";
}

}  // namespace turnpike::report
