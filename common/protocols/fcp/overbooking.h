// SPDX-License-Identifier: BSD-3-Clause
// The factor by which a link promises more than its capacity, since some promises are not kept.
#pragma once

#include <algorithm>
#include <cmath>

namespace turnpike::fcp {

/// Compares announced demand with arrivals, both over the last kMemory round trips. Compliant flows
/// send what they announce, so that the factor is 1. Announcements without traffic, by attackers or
/// by flows that ended early, would leave the link idle without the factor.
///
/// Announced traffic arrives a round trip later, so a ramp looks like announcements without
/// traffic. kSlack and the weight of kPrior round trips of full load keep the factor at 1 during
/// compliant ramps (measured: at most 1.12 without them).
class Overbooking {
 public:
  static constexpr double kMemory = 64, kPrior = 16;  // average round trips
  static constexpr double kSlack = 0.12;              // of the ratio: excess of compliant flows
  static constexpr double kMax = 1.5;

  void announce(double bytes) { announced_ += bytes; }
  void carry(double bytes) { carried_ += bytes; }
  /// Decays both sums by `seconds`.
  void age(double seconds, double average_rtt) {
    const double kept = std::exp(-seconds / (kMemory * average_rtt));
    announced_ *= kept;
    carried_ *= kept;
  }

  /// `others`: B that other lcores have carried.
  [[nodiscard]] double factor(double capacity, double average_rtt, double others) const {
    const double prior = kPrior * average_rtt * capacity;
    return std::clamp((announced_ + prior) / (carried_ + others + prior) - kSlack, 1.0, kMax);
  }
  [[nodiscard]] double carried() const { return carried_; }

 private:
  double announced_ = 0, carried_ = 0;  // B
};

}  // namespace turnpike::fcp
