// SPDX-License-Identifier: BSD-3-Clause
// A link's usual price, the bound of announcements that no traffic backs yet.
#pragma once

#include <cmath>
#include <limits>

#include "common/units/units.h"

namespace turnpike::fcp {

/// The geometric mean of a link's price over its last kMemory round trips with a price above MIN.
class UsualPrice {
 public:
  static constexpr double kMemory = 64;  // average round trips
  static constexpr double kTimes = 4;

  /// Adds a price of `price` $/B that lasted `seconds`.
  void pass(double price, double seconds, double average_rtt) {
    if (price <= kMinPrice.count() * kTimes) return;
    const double log = std::log(price);
    log_ = log_ == 0 ? log : log_ - std::expm1(-seconds / (kMemory * average_rtt)) * (log - log_);
  }

  /// Upper bound of a SYN's knee, $/B; infinity before the first price.
  [[nodiscard]] double ceiling() const {
    return log_ == 0 ? std::numeric_limits<double>::infinity() : kTimes * std::exp(log_);
  }

 private:
  double log_ = 0;  // 0: no price yet
};

}  // namespace turnpike::fcp
