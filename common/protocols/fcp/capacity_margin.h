// SPDX-License-Identifier: BSD-3-Clause
// Capacity that a link's price leaves free while first rounds of flows cause a queue.
#pragma once

#include <algorithm>
#include <cmath>

namespace turnpike::fcp {

/// First rounds of flows arrive at random, and the flows that the price slows down for them follow
/// a round trip later. While the mean queueing delay is above `target`, the price clears for up to
/// kMax less than the capacity, so that the queue drains between bursts of first rounds. The
/// margin is in proportion to the share of first rounds in the traffic, or of the rest of it if
/// that is less: stalls of the machine and starts of long flows fill queues, too, and a margin does
/// not mend those, and where there are first rounds alone nobody yields to them.
class CapacityMargin {
 public:
  static constexpr double kMemory = 64;  // average round trips
  static constexpr double kMax = 0.035;  // of the capacity, left free from two targets on
  static constexpr double kShare = 0.3;  // of first rounds, and of others, for all of the margin
  static constexpr double kPeak = 8;     // targets that a longer queue counts as, so that one
                                         // incast is no standing queue

  /// `target`: queueing delay in s, above 0.
  explicit CapacityMargin(double target = 1) : target_(target) {}

  /// The queueing delay has been `queue` s for `seconds`, and a part `first` of the traffic of the
  /// last round trips was of first rounds.
  void pass(double queue, double first, double seconds, double average_rtt) {
    const double counted = std::min(queue, kPeak * target_);
    mean_ -= std::expm1(-seconds / (kMemory * average_rtt)) * (counted - mean_);
    share_ = kMax * std::clamp(mean_ / target_ - 1, 0.0, 1.0) *
             std::clamp(std::min(first, 1 - first) / kShare, 0.0, 1.0);
  }

  /// The part of the capacity to leave free.
  [[nodiscard]] double share() const { return share_; }

 private:
  double target_;     // s
  double mean_ = 0;   // s, of the queueing delay
  double share_ = 0;  // of the capacity
};

}  // namespace turnpike::fcp
