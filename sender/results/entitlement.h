// SPDX-License-Identifier: BSD-3-Clause
// Computes entitled rates of flows: weighted proportional fairness over a network, solved exactly.
#pragma once

#include <cstddef>
#include <vector>

namespace turnpike::sender {

/// One link that a demand crosses.
struct Crossing {
  size_t link = 0;  // index into the capacities
  double load = 1;  // units of the link's capacity per unit of the demand's rate, > 0
};

/// One flow, or several equal ones: budget and path.
struct Demand {
  double weight = 0;  // >= 0; budget in $/s
  std::vector<Crossing> path;
};

struct Entitlement {
  std::vector<double> rates;   // per demand, in the capacities' unit; 0 at weight 0
  std::vector<double> prices;  // per link, $ per unit of capacity; 0 where the link is not full
};

/// Maximises sum of w_i log r_i subject to every link's capacity (> 0): Kelly's proportional
/// fairness, where r_i = w_i / sum of its links' prices (FCP, section 3). The relative error of
/// each rate is at most 1e-6 for weights that differ by up to 1e6. A demand with an empty path gets
/// 0.
Entitlement entitlement(const std::vector<Demand>& demands, const std::vector<double>& capacities);

}  // namespace turnpike::sender
