// SPDX-License-Identifier: BSD-3-Clause
// The rate that a tunnel can use: what its customer sends now, and what waits.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/units/units.h"

namespace turnpike::gateway {

/// A tunnel's flow does not end, but its customer may send little. The law must know, so that
/// others get what it leaves. The arrival rate is an average over kWindow that rises at once and
/// falls slowly, since bursts follow each other; a backlog adds what drains it within kDrain.
class Demand {
 public:
  static constexpr Nanos kWindow = 20_ms;
  static constexpr Nanos kMemory = 1_s;
  static constexpr Nanos kDrain = 10_ms;
  static constexpr double kMargin = 1.25;  // inner flows that probe for more find it

  /// A packet of `size` B arrives.
  void count(uint32_t size, Nanos now) {
    const Nanos idle = now - last_;
    last_ = now;
    average_ = average_ * left(idle, kWindow) + size / to_seconds(kWindow);
    highest_ = std::max(average_, highest_ * left(idle, kMemory));
  }
  /// B/s. `waiting`: B.
  [[nodiscard]] double rate(double waiting) const {
    return kMargin * highest_ + waiting / to_seconds(kDrain);
  }
  /// B/s of what comes and waits now, without room for more.
  [[nodiscard]] double used(double waiting, Nanos now) const {
    return average_ * left(now - last_, kWindow) + waiting / to_seconds(kDrain);
  }

 private:
  /// exp(-time / constant): mostly packets follow each other closely, and four terms of the series
  /// are within 1e-6.
  static double left(Nanos time, Nanos constant) {
    const double x = to_seconds(time) / to_seconds(constant);
    return x < 1.0 / 16 ? 1 - x * (1 - x / 2 * (1 - x / 3)) : std::exp(-x);
  }

  double average_ = 0, highest_ = 0;  // B/s
  Nanos last_{0};
};

}  // namespace turnpike::gateway
