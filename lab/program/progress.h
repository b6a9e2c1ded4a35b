// SPDX-License-Identifier: BSD-3-Clause
// How far a run on a virtual clock has come, and how fast.
#pragma once

#include <chrono>
#include <cstdio>

#include "common/units/units.h"

namespace turnpike::lab {

/// A line on the terminal that says how far the run is; nothing where nobody watches.
class ProgressLine {
 public:
  ProgressLine(Nanos whole, bool shown) : whole_(to_seconds(whole)), shown_(shown) {}

  double operator()(Nanos now) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    const double t = to_seconds(now), wall = taken.count();
    if (shown_ && (wall >= next_ || t >= whole_)) {
      std::fprintf(stderr, "\r%.1f of %.1f s, %.1f times real time%s", t, whole_, t / wall,
                   t >= whole_ ? "\n" : "");
      next_ = wall + 0.2;
      shown_ = t < whole_;
    }
    return wall;
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double whole_, next_ = 0;
  bool shown_;
};

}  // namespace turnpike::lab
