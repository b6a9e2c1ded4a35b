// SPDX-License-Identifier: BSD-3-Clause
// The price at which a sum of demand curves meets a capacity.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/protocols/fcp/demand_curve.h"
#include "common/protocols/fcp/price_rule.h"

namespace turnpike::fcp {

/// Solves sum over buckets of min(rate, budget / p) = capacity for p. At the solution buckets with
/// knees below p are elastic and those above are inelastic, so p is the elastic buckets' budget by
/// the capacity that the inelastic ones leave. The dividing bucket moves slowly and sums on both
/// sides are kept: price() is O(1) amortised.
class ClearingPrice {
 public:
  /// Replaces all curves by arrays of B/s and $/s, by bucket. Removes accumulated rounding.
  template <class Values>
  void reset(const Values& rate, const Values& budget) {
    used_ = 0;
    elastic_ = inelastic_ = total_ = 0;
    for (size_t b = 0; b < Knees::kBuckets; ++b) {
      total_ += rate_[b] = rate[b];
      budget_[b] = budget[b];
      if (rate[b] > 0) used_ |= uint64_t{1} << b;
      (b < stop_ ? elastic_ : inelastic_) += b < stop_ ? budget_[b] : rate_[b];
    }
  }

  /// Adds to a bucket's curve; negative values subtract.
  void add(size_t b, double rate, double budget) {
    rate_[b] += rate;
    budget_[b] += budget;
    total_ += rate;
    (b < stop_ ? elastic_ : inelastic_) += b < stop_ ? budget : rate;
    const uint64_t bit = uint64_t{1} << b;
    used_ = rate_[b] > 0 ? used_ | bit : used_ & ~bit;
  }

  /// Returns the price, $/B, at which demand is `capacity` B/s; 0 if demand exceeds it by no more
  /// than `slack` B/s at any price. Elastic demand gets at least a hundredth of the capacity.
  double price(double capacity, double slack = 0) {
    constexpr uint64_t kElastic = (uint64_t{1} << Knees::kInelastic) - 1;
    if (total_ <= capacity + slack) {
      if (stop_ != 0) divide_at(0);
      return 0;
    }
    // Upwards while a bucket's knee is below the price that clears with the bucket inelastic ...
    for (uint64_t left; (left = used_ & kElastic & ~below(stop_)) != 0;) {
      const auto b = static_cast<size_t>(std::countr_zero(left));
      if (clears(elastic_, inelastic_, b, capacity)) break;
      divide_at(b + 1);
    }
    // ... downwards while an elastic bucket would not be one at the price without it.
    for (uint64_t left; (left = used_ & below(stop_)) != 0;) {
      const auto b = static_cast<size_t>(std::bit_width(left)) - 1;
      const double elastic = elastic_ - budget_[b], inelastic = inelastic_ + rate_[b];
      if (!clears(elastic, inelastic, b, capacity)) break;
      divide_at(b);
    }
    return std::max(elastic_, 0.0) / std::max(capacity - inelastic_, 0.01 * capacity);
  }

  /// Demand at prices near `price`, which may be infinite: curves with their knees below it are
  /// elastic.
  [[nodiscard]] Demand near(double price) const {
    Demand sum;
    for (uint64_t left = used_; left != 0; left &= left - 1) {
      const auto b = static_cast<size_t>(std::countr_zero(left));
      const bool elastic = b != Knees::kInelastic && budget_[b] < price * rate_[b];
      sum.elastic += elastic ? budget_[b] : 0;
      sum.inelastic += elastic ? 0 : rate_[b];
    }
    return {std::max(sum.elastic, 0.0), sum.inelastic};
  }

  /// Demand in B/s at the price that price() returned last, or at any lower one if that is 0.
  [[nodiscard]] double demand(double price) const {
    return inelastic_ + (price > 0 ? std::max(elastic_, 0.0) / price : 0);
  }

 private:
  static constexpr uint64_t below(size_t b) { return (uint64_t{1} << b) - 1; }

  // Sums anew instead of updating by differences: budgets span many decades.
  void divide_at(size_t b) {
    stop_ = b;
    elastic_ = inelastic_ = 0;
    for (uint64_t left = used_ & below(b); left != 0; left &= left - 1)
      elastic_ += budget_[static_cast<size_t>(std::countr_zero(left))];
    for (uint64_t left = used_ & ~below(b); left != 0; left &= left - 1)
      inelastic_ += rate_[static_cast<size_t>(std::countr_zero(left))];
  }

  // Whether the price that clears with bucket `b` and all above it inelastic is within b's knee.
  [[nodiscard]] bool clears(double elastic, double inelastic, size_t b, double capacity) const {
    return inelastic < capacity && elastic * rate_[b] <= budget_[b] * (capacity - inelastic);
  }

  std::array<double, Knees::kBuckets> rate_{}, budget_{};
  uint64_t used_ = 0;     // bit b: bucket b has a curve
  size_t stop_ = 0;       // the first inelastic bucket, at most kInelastic
  double elastic_ = 0;    // $/s of the buckets below stop_
  double inelastic_ = 0;  // B/s of the others
  double total_ = 0;      // B/s of all
};

}  // namespace turnpike::fcp
