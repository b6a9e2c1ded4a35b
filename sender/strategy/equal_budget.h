// SPDX-License-Identifier: BSD-3-Clause
// Equal budgets (FCP, section 6): x_i = W x share_i / sum of shares.
#pragma once

#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// A flow's rate then depends on its share and on the price of its path alone.
class EqualBudget : public Strategy {
 public:
  explicit EqualBudget(Budget budget) : Strategy(budget, Watching::kNo) {}

 protected:
  void joined(Member& member) final {
    shares_ += member.terms->share;
    ++flows_;
  }
  void left(Member& member) final {
    // Exactly zero without flows, in spite of rounding errors.
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
