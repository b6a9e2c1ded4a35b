// SPDX-License-Identifier: BSD-3-Clause
// Random early detection (Floyd and Jacobson 1993), gentle (Floyd 2000): one average and its dice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/protocols/link_law.h"
#include "common/protocols/random.h"

namespace turnpike::aqm {

/// Replaces DPDK's rte_red, which has no gentle mode and keeps its average in tenths of a packet.
/// Laws do not depend on DPDK, so that tests run without it.
struct RedCurve {
  double min_th = 0, max_th = 0;  // of the average, in any unit
  double max_p = 0;
  bool gentle = true;

  /// Probability p_b that a packet signals congestion, by average; beyond 1: all are dropped.
  [[nodiscard]] double probability(double average) const {
    if (average < min_th) return 0;
    if (average < max_th) return max_p * (average - min_th) / (max_th - min_th);
    if (gentle && average < 2 * max_th) return max_p + (1 - max_p) * (average - max_th) / max_th;
    return kAll;
  }
  static constexpr double kAll = 2;
};

/// One lcore's view of a queue's average, and its packets since the last that signalled.
class RedAverage {
 public:
  explicit RedAverage(SplitMix64 random) : random_(random) {}

  /// The average ages as by `packets` arrivals that found a queue of `queue`.
  void age(double weight, double packets, double queue) {
    average_ += (1 - std::pow(1 - weight, packets)) * (queue - average_);
  }
  void arrival(double weight, double queue) { average_ += weight * (queue - average_); }
  [[nodiscard]] double average() const { return average_; }

  /// Signals at p_b, evenly spaced: after `count` that were taken, with p_b / (1 - count p_b).
  AqmAction decide(double p) {
    if (p <= 0) {
      count_ = 0;
      return AqmAction::kPass;
    }
    if (p > 1) {
      count_ = 0;
      return AqmAction::kDrop;
    }
    const double room = 1 - count_ * p;
    if (room > 0 && random_.uniform() * room >= p) {
      ++count_;
      return AqmAction::kPass;
    }
    count_ = 0;
    return AqmAction::kSignal;
  }

 private:
  double average_ = 0;
  double count_ = 0;
  SplitMix64 random_;
};

}  // namespace turnpike::aqm
