// SPDX-License-Identifier: BSD-3-Clause
// Selects the class that sends next: strict priority first, then shares by weight.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "common/protocols/link_law.h"

namespace turnpike::router {

/// Start-time fair queueing (Goyal, Vin, Cheng 1996): every class has a virtual start time of its
/// next packet; a packet of s bytes advances it by s/weight, and the smallest start time goes
/// first. A class without packets restarts at the present virtual time, so that it gains no credit.
class ClassScheduler {
 public:
  /// Infinity: strict priority over finite weights. Applies to packets served from now on.
  void set_weight(unsigned c, double weight) { weight_[c] = weight; }

  /// Returns a class of `waiting`, a set of bits that is not empty.
  [[nodiscard]] unsigned pick(unsigned waiting) const {
    unsigned best = kMaxClasses;
    for (unsigned c = 0; c < kMaxClasses; ++c) {
      if ((waiting >> c & 1) == 0) continue;
      if (std::isinf(weight_[c])) return c;
      if (best == kMaxClasses || start_[c] < start_[best]) best = c;
    }
    return best;
  }

  /// Call after class `c` has sent `bytes`.
  void served(unsigned c, double bytes) {
    if (std::isinf(weight_[c])) return;
    // Times are relative to the packet in service, so that doubles keep their precision.
    const double present = start_[c];
    start_[c] += bytes / weight_[c];
    for (double& s : start_) s = std::max(0.0, s - present);
  }

 private:
  std::array<double, kMaxClasses> weight_ = [] {
    std::array<double, kMaxClasses> all;
    all.fill(1);
    return all;
  }();
  std::array<double, kMaxClasses> start_{};
};

}  // namespace turnpike::router
