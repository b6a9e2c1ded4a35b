// SPDX-License-Identifier: BSD-3-Clause
// Equal throughput (FCP, section 6): flows on more expensive paths receive more budget.
#pragma once

#include "sender/strategy/weighted.h"

namespace turnpike::sender {

/// Every two mean RTTs, x_i moves half the way to W x P_i / sum of P_j, at which all flows have the
/// same rate, or rates in proportion to unequal shares. Half the way, because prices react.
class EqualThroughput final : public Weighted {
 public:
  explicit EqualThroughput(Budget budget) : Weighted(budget) {}

 protected:
  Nanos review(Nanos now) override;
};

}  // namespace turnpike::sender
