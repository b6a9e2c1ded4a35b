// SPDX-License-Identifier: BSD-3-Clause
// Capacity that a link leaves free while first rounds of flows cause a queue.
#pragma once

#include <algorithm>
#include <cmath>

namespace turnpike::fcp {

/// First rounds arrive at random, and other flows react to the price one round trip later. While
/// the mean queueing delay exceeds `target`, the price clears for up to kMax less than the
/// capacity, so that the queue drains between bursts of first rounds. The margin is proportional to
/// the traffic's share of first rounds, or of other traffic if that is less: a margin does not
/// shorten queues caused by stalls of the machine or starts of long flows, and with first rounds
/// alone no flow yields.
class CapacityMargin {
 public:
  static constexpr double kMemory = 64;  // average round trips
  static constexpr double kMax = 0.035;  // of the capacity, reached at twice the target
  static constexpr double kShare = 0.3;  // of first rounds, and of the rest, for the full margin
  static constexpr double kPeak = 8;     // targets: bounds the effect of one incast

  /// `target`: queueing delay in s, above 0.
  explicit CapacityMargin(double target = 1) : target_(target) {}

  /// Applies from the next pass() on.
  void set_target(double target) { target_ = target; }

  /// The queueing delay was `queue` s for `seconds`; `first`: share of first rounds in the traffic
  /// of the last round trips.
  void pass(double queue, double first, double seconds, double average_rtt) {
    const double counted = std::min(queue, kPeak * target_);
    mean_ -= std::expm1(-seconds / (kMemory * average_rtt)) * (counted - mean_);
    share_ = kMax * std::clamp(mean_ / target_ - 1, 0.0, 1.0) *
             std::clamp(std::min(first, 1 - first) / kShare, 0.0, 1.0);
  }

  /// The share of the capacity to leave free.
  [[nodiscard]] double share() const { return share_; }

 private:
  double target_;     // s
  double mean_ = 0;   // s, of the queueing delay
  double share_ = 0;  // of the capacity
};

}  // namespace turnpike::fcp
