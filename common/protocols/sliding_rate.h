// SPDX-License-Identifier: BSD-3-Clause
// A rate over a time sliding window (Clark and Fang 1998).
#pragma once

#include "common/units/units.h"

namespace turnpike {

/// Each packet decays the estimate, and adds to it:
///
///     R <- (R window + s) / (now - T_front + window)
///
/// Evenly spaced packets of rate R leave it at R.
class SlidingRate {
 public:
  /// Counts `size` B; returns the rate in B/s. `window` in s, above 0.
  double add(double size, Nanos now, double window) {
    const double elapsed = front_ == kUnset ? 0 : to_seconds(now - front_);
    front_ = now;
    rate_ = (rate_ * window + size) / (elapsed + window);
    return rate_;
  }
  [[nodiscard]] double rate() const { return rate_; }  // B/s, at the last packet
  /// The rate if no packet has come since the last one, B/s.
  [[nodiscard]] double decayed(Nanos now, double window) const {
    return front_ == kUnset ? 0 : rate_ * window / (to_seconds(now - front_) + window);
  }

 private:
  static constexpr Nanos kUnset{-1};

  double rate_ = 0;
  Nanos front_ = kUnset;
};

}  // namespace turnpike
