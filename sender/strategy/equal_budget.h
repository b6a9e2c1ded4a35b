// SPDX-License-Identifier: BSD-3-Clause
// Equal budgets (section 6 of the FCP paper): x_i = W x share_i / sum of shares.
#pragma once

#include <algorithm>

#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// What a flow gets then depends on the price of its path alone.
class EqualBudget final : public Strategy {
 public:
  explicit EqualBudget(Budget budget) : budget_(budget) {}

  void joined(double share) override {
    shares_ += share;
    ++flows_;
    changed();
  }
  void left(double share) override {
    // Exactly zero when nobody is left, whatever the sums before have lost to rounding.
    shares_ = --flows_ == 0 ? 0 : std::max(shares_ - share, 0.0);
    changed();
  }
  [[nodiscard]] Budget target(double share) const override {
    return shares_ > 0 ? budget_ * std::min(share / shares_, 1.0) : budget_;
  }

 private:
  Budget budget_;
  double shares_ = 0;
  uint64_t flows_ = 0;
};

}  // namespace turnpike::sender
