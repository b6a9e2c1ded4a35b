// SPDX-License-Identifier: BSD-3-Clause
// Rates of flows, measured at a link in a table of fixed size.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/protocols/sliding_rate.h"

namespace turnpike {

/// One lcore's flows: sets of kWays places. Where a set is full, a new flow takes the place of the
/// slowest: fast flows stay measured, whatever the number of flows. Takes 96 KiB.
class FlowRates {
 public:
  static constexpr size_t kWays = 4, kSets = 1024;

  FlowRates() : sets_(kSets) {}

  /// Counts a packet of `size` B of the flow with this hash; returns the flow's rate in B/s.
  /// `window` in s.
  double add(uint32_t flow, double size, Nanos now, double window) {
    Set& set = sets_[flow * kSpread >> kShift];
    auto place = std::ranges::find(set, flow, &Place::flow);
    if (place == set.end()) {
      place = std::ranges::min_element(set, {},
                                       [&](const Place& p) { return p.rate.decayed(now, window); });
      *place = {flow, {}};
    }
    return place->rate.add(size, now, window);
  }

 private:
  struct Place {
    uint32_t flow = 0;
    SlidingRate rate;
  };
  using Set = std::array<Place, kWays>;
  static constexpr uint32_t kSpread = 2654435761U, kShift = 22;  // 2^32 / phi; leaves 10 bits
  static_assert(kSets == 1U << (32 - kShift));

  std::vector<Set> sets_;
};

}  // namespace turnpike
