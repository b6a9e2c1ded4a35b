// SPDX-License-Identifier: BSD-3-Clause
// Weighted max-min fairness.
#pragma once

#include <limits>

namespace turnpike {

/// The level at which items with min(need(i), level * share(i)) have all of `capacity`; infinite:
/// all have what they need. `need` may be infinite. Each of kMaxMinPasses passes finds items that
/// need less than their part; where more would be needed, the level is a little too low.
inline constexpr unsigned kMaxMinPasses = 8;
template <class Items, class Need, class Share>
double max_min_level(const Items& items, double capacity, Need&& need, Share&& share) {
  double shares = 0;
  for (const auto& item : items) shares += share(item);
  double level = capacity / shares;
  for (unsigned pass = 0; pass < kMaxMinPasses; ++pass) {
    double left = capacity, eager = 0;
    for (const auto& item : items) {
      const double wanted = need(item), part = share(item);
      if (wanted < level * part) {
        left -= wanted;
      } else {
        eager += part;
      }
    }
    const double next = eager > 0 ? left / eager : std::numeric_limits<double>::infinity();
    if (next <= level) break;
    level = next;
  }
  return level;
}

}  // namespace turnpike
