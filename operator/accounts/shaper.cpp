// SPDX-License-Identifier: BSD-3-Clause
#include "operator/accounts/shaper.h"

#include <algorithm>

namespace turnpike::ops {
namespace {

constexpr double kPercentile = 0.99;

/// Time until a level that rises by `slope` > 0 B/s from `from` reaches `to`, within a span.
double reaches(double from, double to, double slope, double seconds) {
  return std::clamp((to - from) / slope, 0.0, seconds);
}

}  // namespace

// The level moves along a straight line, down to the full bucket or up to the full buffer.
Shaped Shaper::pass(double offered, double seconds) {
  Shaped done;
  const double before = level_, waited = waiting();
  const double free = before + offered - spec_.rate * seconds;  // without bounds
  done.dropped = std::clamp(free - spec_.buffer, 0.0, offered);
  level_ = std::clamp(free, -spec_.burst, spec_.buffer);
  const double let_in = offered - done.dropped;
  done.carried = std::max(0.0, waited + let_in - waiting());
  if (!(seconds > 0)) {
    done.wait_p99 = offered > 0 ? delay(level_) : 0;
    return done;
  }
  const double slope = offered / seconds - spec_.rate;
  if (slope > 0) {
    const double empty = reaches(before, 0, slope, seconds);
    const double full = reaches(before, spec_.buffer, slope, seconds);
    done.limited = seconds - empty;
    // Until the buffer is full all is let in, then as much as leaves.
    const double at = kPercentile * let_in / (offered / seconds);
    done.wait_p99 = delay(std::min(before + slope * std::min(at, full), spec_.buffer));
  } else {
    // A level that does not move stays for the whole span.
    done.limited =
        slope < 0 ? std::clamp(before / -slope, 0.0, seconds) : (before > 0 ? seconds : 0.0);
    // The first bytes waited longest.
    if (offered > 0) done.wait_p99 = delay(before + slope * (1 - kPercentile) * seconds);
  }
  return done;
}

}  // namespace turnpike::ops
