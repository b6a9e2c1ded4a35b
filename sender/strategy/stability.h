// SPDX-License-Identifier: BSD-3-Clause
// Statistical bandwidth stability (section 6 of the FCP paper): some flows hold a rate, whatever
// its price, at the expense of the host's others.
#pragma once

#include "sender/strategy/roster.h"
#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// Every average round trip a flow that holds a rate gets x = rate x P. The others divide the rest
/// by share and keep a tenth of their equal budget at least; beyond that nothing can be stolen and
/// those who hold a rate fall short of it, all by the same factor.
class Stability final : public Strategy {
 public:
  static constexpr double kKept = 0.1;  // of an equal budget

  explicit Stability(Budget budget) : Strategy(budget, Watching::kYes) {}

 protected:
  void joined(Member& member) override;
  void left(Member& member) override;
  [[nodiscard]] Budget part(const Member& member) const override;
  Nanos review(Nanos now) override;

 private:
  // $/s that holds rates: what is wanted, within what may be stolen.
  [[nodiscard]] double held() const;

  Roster roster_;
  double wanted_ = 0;               // sum of the members' weights: what holding would take, $/s
  double shares_ = 0, others_ = 0;  // of all; of those whose weight is 0
};

}  // namespace turnpike::sender
