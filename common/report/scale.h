// SPDX-License-Identifier: BSD-3-Clause
// Maps data to pixels along one axis, and places its ticks.
#pragma once

#include <string>
#include <vector>

namespace turnpike::report {

/// A tick's position and label; empty label: a minor tick.
struct Tick {
  double value = 0;
  std::string label;  // may hold <tspan> for powers of ten
};

/// An axis from `min` to `max` over the pixels `begin` to `end` (which may run downwards).
class Scale {
 public:
  /// Spans at least [low, high], widened to whole ticks if `widen`, with about `wanted` labelled
  /// ticks. An empty or infinite range becomes one that can be drawn. With `log`, low <= 0 becomes
  /// a decade below high.
  Scale(double low, double high, bool log, bool widen, int wanted);
  /// For categories at 0, 1, 2 ...
  explicit Scale(const std::vector<std::string>& categories);

  /// Sets the pixel range.
  void onto(double begin, double end) {
    begin_ = begin;
    end_ = end;
  }

  [[nodiscard]] double pixel(double value) const;
  [[nodiscard]] bool shows(double value) const;  // finite, and positive where the axis is log
  /// Whether the value is within the ends, up to rounding.
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
