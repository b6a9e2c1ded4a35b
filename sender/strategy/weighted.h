// SPDX-License-Identifier: BSD-3-Clause
// Base of strategies that move budget between flows.
#pragma once

#include "sender/strategy/roster.h"
#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// x_i = W x weight_i / sum of weights, so that targets always sum to W. A new flow begins with its
/// share of equal budgets; the other flows' targets fall in proportion.
class Weighted : public Strategy {
 protected:
  explicit Weighted(Budget budget) : Strategy(budget, Watching::kYes) {}

  void joined(Member& member) override;
  void left(Member& member) override;
  [[nodiscard]] Budget part(const Member& member) const final {
    return Budget(budget() * std::min(member.weight / total_, 1.0));
  }

  [[nodiscard]] const Roster& roster() const { return roster_; }
  [[nodiscard]] Roster& roster() { return roster_; }
  /// Scales the weights to a sum of 1. Call after changing weights.
  void normalize();

 private:
  Roster roster_;
  double total_ = 0, shares_ = 0;  // sums of the members' weights and shares
};

}  // namespace turnpike::sender
