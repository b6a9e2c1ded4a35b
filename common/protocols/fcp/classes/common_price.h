// SPDX-License-Identifier: BSD-3-Clause
// The price at which the demand of several classes together meets their capacity.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/protocols/fcp/price_rule.h"

namespace turnpike::fcp {

/// Solves demand(p) = usable by Newton's method on 1/p, from `start`. `demand(p)` returns the
/// Demand near a price p, 0 and infinity included: concave and piecewise linear in 1/p. Above the
/// solution prices fall monotonically to it, and the price is exact once the pieces are found; from
/// burst to burst they rarely change. A price at which inelastic demand alone takes all is no place
/// to continue from: the search starts again from infinity. As in ClearingPrice, elastic demand
/// gets at least a hundredth, and the price is 0 if demand exceeds `usable` by no more than `slack`
/// at any price.
template <class F>
double common_price(F&& demand, double usable, double slack, double start) {
  constexpr int kMaxSteps = 64;  // at most one per bucket of all classes
  const auto least = [&](const Demand& d) {
    return d.elastic / std::max(usable - d.inelastic, 0.01 * usable);
  };
  const Demand free = demand(0);
  if (free.elastic <= 0 && free.inelastic <= usable + slack) return 0;
  double price = start, bounded = start;
  for (int i = 0; i < kMaxSteps; ++i) {
    Demand d = demand(price);
    const bool full = d.elastic <= 0 || d.inelastic >= usable;
    if (full) d = demand(std::numeric_limits<double>::infinity());
    bounded = least(d);
    const double next = full ? bounded : d.elastic / (usable - d.inelastic);
    if (std::abs(next - price) <= 1e-9 * price) break;
    price = next;
  }
  return bounded;
}

}  // namespace turnpike::fcp
