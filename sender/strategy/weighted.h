// SPDX-License-Identifier: BSD-3-Clause
// What strategies have in common that move budget between their flows.
#pragma once

#include "sender/strategy/roster.h"
#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// x_i = W x weight_i / sum of weights: whoever comes, goes, or moves weights about, the whole
/// budget is divided and no more. A flow starts with what equal budgets would give it; the others
/// yield that in proportion to what they have.
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
  /// After weights were changed: makes their sum 1.
  void normalize();

 private:
  Roster roster_;
  double total_ = 0, shares_ = 0;  // of the members' weights and shares
};

}  // namespace turnpike::sender
