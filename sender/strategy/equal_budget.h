// SPDX-License-Identifier: BSD-3-Clause
// Equal budgets (section 6 of the FCP paper): x_i = W x share_i / sum of shares.
#pragma once

#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// What a flow gets then depends on the price of its path alone.
class EqualBudget : public Strategy {
 public:
  explicit EqualBudget(Budget budget) : Strategy(budget, Watching::kNo) {}

 protected:
  void joined(Member& member) final {
    shares_ += member.terms->share;
    ++flows_;
  }
  void left(Member& member) final {
    // Exactly zero when nobody is left, whatever the sums before have lost to rounding.
    shares_ = --flows_ == 0 ? 0 : std::max(shares_ - member.terms->share, 0.0);
  }
  [[nodiscard]] Budget part(const Member& member) const override {
    return Budget(budget() * (shares_ > 0 ? std::min(member.terms->share / shares_, 1.0) : 1));
  }

 private:
  double shares_ = 0;
  uint64_t flows_ = 0;
};

}  // namespace turnpike::sender
