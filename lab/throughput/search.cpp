// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/search.h"

#include <algorithm>

namespace turnpike::lab {
namespace {

constexpr double kMinShare = 1e-4;  // the search ends below this share

/// Bounds from trials for a goal: the greatest share that passed, and the least above it that
/// failed.
struct Bounds {
  double passed = 0, failed = 0;
  bool limited = false;  // by the trial at `failed`, which was invalid
};

Bounds bounds_of(const std::vector<Point>& known, double goal, double top) {
  Bounds b{.passed = 0, .failed = 2 * top, .limited = false};
  for (const Point& p : known)
    if (p.loss <= goal && p.share <= top) b.passed = std::max(b.passed, p.share);
  for (const Point& p : known) {
    if (p.loss <= goal || p.share <= b.passed || p.share >= b.failed) continue;
    b.failed = p.share;
    b.limited = !p.valid;
  }
  return b;
}

}  // namespace

tl::expected<Found, std::string> find_rate(double goal, double top, double resolution,
                                           std::vector<Point>& known, const TryRate& try_rate) {
  for (;;) {
    const Bounds b = bounds_of(known, goal, top);
    if (b.passed >= top) return Found{top, false};
    if (b.failed <= top && (b.failed - b.passed <= resolution * b.failed || b.failed < kMinShare))
      return Found{b.passed, b.limited};
    const auto point = try_rate(b.failed > top ? top : (b.passed + b.failed) / 2);
    if (!point) return tl::unexpected(point.error());
    known.push_back(*point);
  }
}

}  // namespace turnpike::lab
