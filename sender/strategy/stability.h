// SPDX-License-Identifier: BSD-3-Clause
// Statistical bandwidth stability (FCP, section 6): some flows hold a rate at any price, at the
// expense of the host's other flows.
#pragma once

#include "sender/strategy/roster.h"
#include "sender/strategy/strategy.h"

namespace turnpike::sender {

/// Every mean RTT, sets x = rate x P for each flow that holds a rate. The other flows divide the
/// rest by share, and keep at least kKept of their equal budget. If the budget above that does not
/// suffice, all held rates fall short by the same factor.
class Stability final : public Strategy {
 public:
  static constexpr double kKept = 0.1;  // fraction of an equal budget

  explicit Stability(Budget budget) : Strategy(budget, Watching::kYes) {}

 protected:
  void joined(Member& member) override;
  void left(Member& member) override;
  [[nodiscard]] Budget part(const Member& member) const override;
  Nanos review(Nanos now) override;

 private:
  // $/s of the flows that hold rates: `wanted_`, at most the budget above the others' minimum.
  [[nodiscard]] double held() const;

  Roster roster_;
  double wanted_ = 0;               // $/s that would hold all rates: sum of the members' weights
  double shares_ = 0, others_ = 0;  // sum of shares: of all members; of those with weight 0
};

}  // namespace turnpike::sender
