// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/polyline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/report/number.h"

namespace turnpike::report {
namespace {

struct Point {
  double x, y;
};

/// Reduces consecutive points in one pixel column to at most four.
std::vector<Point> thinned(const std::vector<Point>& points) {
  std::vector<Point> kept;
  for (size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && std::floor(points[end].x) == std::floor(points[begin].x)) ++end;
    std::vector<size_t> stay{begin, begin, begin, end - 1};
    for (size_t i = begin; i < end; ++i) {
      if (points[i].y < points[stay[1]].y) stay[1] = i;
      if (points[i].y > points[stay[2]].y) stay[2] = i;
    }
    std::sort(stay.begin(), stay.end());
    stay.erase(std::unique(stay.begin(), stay.end()), stay.end());
    for (const size_t i : stay) kept.push_back(points[i]);
  }
  return kept;
}

void draw(const std::vector<Point>& points, bool step, std::string& out) {
  const auto to = [&](char command, double x, double y) {
    out += command + fixed(x, 1) + " " + fixed(y, 1);
  };
  const std::vector<Point> kept = thinned(points);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i && step) to('L', kept[i].x, kept[i - 1].y);
    to(i ? 'L' : 'M', kept[i].x, kept[i].y);
  }
  if (kept.size() == 1) out += "h0.1";  // shows a lone point as a dot
}

}  // namespace

std::string path_data(const Series& s, const Scale& x, const Scale& y, double top, double bottom) {
  std::string out;
  std::vector<Point> run;
  const size_t n = std::min(s.x.size(), s.y.size());
  for (size_t i = 0; i <= n; ++i) {
    const bool shown = i < n && x.shows(s.x[i]) && y.shows(s.y[i]) && x.holds(s.x[i]);
    if (shown) {
      run.push_back({x.pixel(s.x[i]), std::clamp(y.pixel(s.y[i]), top, bottom)});
    } else if (!run.empty()) {
      draw(run, s.step, out);
      run.clear();
    }
  }
  return out;
}

}  // namespace turnpike::report
