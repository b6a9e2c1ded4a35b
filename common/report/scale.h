// SPDX-License-Identifier: BSD-3-Clause
// From data to pixels along one axis, and where its ticks stand.
#pragma once

#include <string>
#include <vector>

namespace turnpike::report {

/// A tick: where it stands, and its label; an empty label is a minor tick.
struct Tick {
  double value = 0;
  std::string label;  // may hold <tspan> for powers of ten
};

/// An axis from `min` to `max` over the pixels `begin` to `end` (which may run downwards).
class Scale {
 public:
  /// Spans at least [low, high], widened to whole ticks if `widen`; about `wanted` labelled ticks.
  /// A range that is empty or not finite becomes one that can be drawn. `log` needs low > 0, or
  /// takes a decade below high.
  Scale(double low, double high, bool log, bool widen, int wanted);
  /// Room for names at 0, 1, 2 ...
  explicit Scale(const std::vector<std::string>& categories);

  void onto(double begin, double end) {
    begin_ = begin;
    end_ = end;
  }

  [[nodiscard]] double pixel(double value) const;
  [[nodiscard]] bool shows(double value) const;  // finite, and positive where the axis is log
  /// Within the ends, give or take what rounding does to them.
  [[nodiscard]] bool holds(double value) const {
    const double slack = (max_ - min_) * 1e-6;
    return value >= min_ - slack && value <= max_ + slack;
  }
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void linear_ticks(bool widen, int wanted);
  void log_ticks(bool widen);

  double min_, max_;
  bool log_;
  double begin_ = 0, end_ = 1;
  std::vector<Tick> ticks_;
};

}  // namespace turnpike::report
