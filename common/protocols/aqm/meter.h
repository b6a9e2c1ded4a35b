// SPDX-License-Identifier: BSD-3-Clause
// Which packets of a flow are within what it was promised: the edge's meter for RIO.
#pragma once

#include "common/protocols/sliding_rate.h"

namespace turnpike::aqm {

/// Time sliding window tagger (Clark and Fang 1998). While the sliding rate R_avg is at most the
/// promised rate, packets are "in"; beyond, a share (R_avg - R)/R_avg of them is "out". Packets
/// that are out come evenly spaced instead of at random: a flow's law draws no random numbers, and
/// the share is the same.
class Meter {
 public:
  /// `promised` in B/s, `window` in s.
  Meter(double promised, double window)
      : promised_(static_cast<float>(promised)), window_(static_cast<float>(window)) {}

  /// Counts a packet of `size` B; whether it is in.
  bool take(double size, Nanos now) {
    const double rate = rate_.add(size, now, window_);
    if (rate <= promised_) return true;
    owed_ += static_cast<float>((rate - promised_) / rate);
    if (owed_ < 1) return true;
    owed_ -= 1;
    return false;
  }

  [[nodiscard]] double rate() const { return rate_.rate(); }  // B/s

 private:
  float promised_, window_;
  float owed_ = 0;  // packets that ought to have been out
  SlidingRate rate_;
};

}  // namespace turnpike::aqm
