// SPDX-License-Identifier: BSD-3-Clause
// Which packets of a flow are within what it was promised: the edge's meter for RIO.
#pragma once

#include "common/units/units.h"

namespace turnpike::aqm {

/// Time sliding window tagger (Clark and Fang 1998). The rate's estimate is decayed by each packet:
///
///     R_avg <- (R_avg Win + s) / (now - T_front + Win)
///
/// While it is at most the promised rate, packets are "in"; beyond, a share (R_avg - R)/R_avg of
/// them is "out". Packets that are out come evenly spaced instead of at random: a flow's law draws
/// no random numbers, and the share is the same.
class Meter {
 public:
  /// `promised` in B/s, `window` in s.
  Meter(double promised, double window)
      : promised_(static_cast<float>(promised)), window_(static_cast<float>(window)) {}

  /// Counts a packet of `size` B; whether it is in.
  bool take(double size, Nanos now) {
    const double elapsed = front_ == kUnset ? 0 : to_seconds(now - front_);
    front_ = now;
    rate_ = (rate_ * window_ + size) / (elapsed + window_);
    if (rate_ <= promised_) return true;
    owed_ += static_cast<float>((rate_ - promised_) / rate_);
    if (owed_ < 1) return true;
    owed_ -= 1;
    return false;
  }

  [[nodiscard]] double rate() const { return rate_; }  // B/s

 private:
  static constexpr Nanos kUnset{-1};

  float promised_, window_;
  float owed_ = 0;  // packets that ought to have been out
  double rate_ = 0;
  Nanos front_ = kUnset;
};

}  // namespace turnpike::aqm
