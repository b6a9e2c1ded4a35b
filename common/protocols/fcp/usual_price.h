// SPDX-License-Identifier: BSD-3-Clause
// The price that a link usually has: what an announcement is measured by that nothing backs yet.
#pragma once

#include <cmath>
#include <limits>

#include "common/units/units.h"

namespace turnpike::fcp {

/// The geometric mean of a link's price over the last kMemory round trips in which it was not MIN.
class UsualPrice {
 public:
  static constexpr double kMemory = 64;  // average round trips
  static constexpr double kTimes = 4;

  /// The price was `price` $/B for `seconds`.
  void pass(double price, double seconds, double average_rtt) {
    if (price <= kMinPrice.count() * kTimes) return;
    const double log = std::log(price);
    log_ = log_ == 0 ? log : log_ - std::expm1(-seconds / (kMemory * average_rtt)) * (log - log_);
  }

  /// $/B, the highest knee that a SYN may have; infinity before there was a price.
  [[nodiscard]] double ceiling() const {
    return log_ == 0 ? std::numeric_limits<double>::infinity() : kTimes * std::exp(log_);
  }

 private:
  double log_ = 0;  // 0: there was no price yet
};

}  // namespace turnpike::fcp
