// SPDX-License-Identifier: BSD-3-Clause
// The price at which the demand of several classes together meets their capacity.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/protocols/fcp/price_rule.h"

namespace turnpike::fcp {

/// Solves demand(p) = usable by Newton's method on 1/p, from `start`. `demand(p)` returns the
/// Demand near a price p, infinity included: concave and piecewise linear in 1/p. From the second
/// step on the price rises monotonically, and it is exact once the pieces are found. From burst to
/// burst they rarely change. Elastic demand gets at least a hundredth, as in ClearingPrice. Returns
/// 0 if demand is less at any price.
template <class F>
double common_price(F&& demand, double usable, double start) {
  constexpr int kMaxSteps = 64;  // at most one per bucket of all classes
  double price = start;
  for (int i = 0; i < kMaxSteps; ++i) {
    Demand d = demand(price);
    if (d.elastic <= 0) {
      if (d.inelastic <= usable) return 0;
      d = demand(std::numeric_limits<double>::infinity());
      if (d.elastic <= 0) return 0;
    }
    const double next = d.elastic / std::max(usable - d.inelastic, 0.01 * usable);
    if (std::abs(next - price) <= 1e-9 * price) return next;
    price = next;
  }
  return price;
}

}  // namespace turnpike::fcp
