// SPDX-License-Identifier: BSD-3-Clause
// Which of a link's classes sends next: strict priority first, then shares of the link by weight.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "common/protocols/link_law.h"

namespace turnpike::router {

/// Start-time fair queueing (Goyal, Vin, Cheng 1996): every class has a virtual time at which its
/// next packet may start, a packet of s bytes moves it by s/weight, and the least starts first. A
/// class that had nothing to send starts with the present, so it saves nothing up.
class ClassScheduler {
 public:
  /// Infinity: before all classes of finite weight. Holds for packets served from now on.
  void set_weight(unsigned c, double weight) { weight_[c] = weight; }

  /// One of the classes in `waiting`, which has a bit for each and is not zero.
  [[nodiscard]] unsigned pick(unsigned waiting) const {
    unsigned best = kMaxClasses;
    for (unsigned c = 0; c < kMaxClasses; ++c) {
      if ((waiting >> c & 1) == 0) continue;
      if (std::isinf(weight_[c])) return c;
      if (best == kMaxClasses || start_[c] < start_[best]) best = c;
    }
    return best;
  }

  /// The class that was picked has sent `bytes`.
  void served(unsigned c, double bytes) {
    if (std::isinf(weight_[c])) return;
    // Times count from the packet in service, so that they never grow beyond a double's digits.
    const double present = start_[c];
    start_[c] += bytes / weight_[c];
    for (double& s : start_) s = std::max(0.0, s - present);
  }

 private:
  std::array<double, kMaxClasses> weight_{1, 1, 1, 1};
  std::array<double, kMaxClasses> start_{};
};

}  // namespace turnpike::router
