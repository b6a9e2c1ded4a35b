// SPDX-License-Identifier: BSD-3-Clause
// How much more than its capacity a link may promise, since some of it never comes.
#pragma once

#include <algorithm>
#include <cmath>

namespace turnpike::fcp {

/// Compares the demand that was announced with what came, both over the last kMemory round trips.
/// Honest flows send what they announce, so that the factor is 1; announcements without traffic,
/// be they lies or flows that ended early, would leave the link idle without it.
///
/// What is announced comes a round trip later, so a ramp looks like idle promises. kSlack and the
/// weight of kPrior round trips of full load keep honest ramps at 1 (measured: at most 1.12
/// without them).
class Overbooking {
 public:
  static constexpr double kMemory = 64, kPrior = 16;  // average round trips
  static constexpr double kSlack = 0.12;              // of the ratio, which honest flows may have
  static constexpr double kMax = 1.5;

  void announce(double bytes) { announced_ += bytes; }
  void carry(double bytes) { carried_ += bytes; }
  /// `seconds` pass.
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
