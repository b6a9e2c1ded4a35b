// SPDX-License-Identifier: BSD-3-Clause
// Weighted max-min fairness of money: flows that need less than their share leave it to the others.
#pragma once

#include "sender/strategy/weighted.h"

namespace turnpike::sender {

/// Every mean RTT, x_i becomes what the flow needs, but no more than an equal share of what the
/// flows that need less have left. A flow needs its demand times its price, and a twentieth of its
/// share at least, with which it begins after a pause. A demand includes room for a price that
/// rises until the next review. Shares are relative to each other's Terms::share.
class MaxMin final : public Weighted {
 public:
  explicit MaxMin(Budget budget) : Weighted(budget) {}

 protected:
  Nanos review(Nanos now) override;
};

}  // namespace turnpike::sender
