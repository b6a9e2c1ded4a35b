// SPDX-License-Identifier: BSD-3-Clause
// Equal throughput (section 6 of the FCP paper): who has the dearer path gets more budget.
#pragma once

#include "sender/strategy/weighted.h"

namespace turnpike::sender {

/// Every two average round trips x_i moves half the way to W x P_i / sum of P_j, at which budgets
/// all buy the same rate (by share, where shares differ). Half the way, because prices answer.
class EqualThroughput final : public Weighted {
 public:
  explicit EqualThroughput(Budget budget) : Weighted(budget) {}

 protected:
  Nanos review(Nanos now) override;
};

}  // namespace turnpike::sender
