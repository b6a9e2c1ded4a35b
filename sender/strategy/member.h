// SPDX-License-Identifier: BSD-3-Clause
// State of a flow that its host's strategy uses.
#pragma once

#include <cstdint>
#include <limits>

#include "common/units/units.h"

namespace turnpike::sender {

/// Requirements on the strategy of all flows of one entry of the topology's traffic.
struct Terms {
  double share = 1;         // weight within the host's budget
  double hold = 0;          // B/s that strategy `stability` holds; 0: none
  bool background = false;  // spends W/10000
};

/// A part of the flow. Rates are pacing rates, which count fractions of a packet: counts of whole
/// packets over one RTT are too coarse to compare trials.
struct Member {
  const Terms* terms = nullptr;                             // outlives the member
  double weight = 0;                                        // for the strategy's own use
  uint32_t place = 0;                                       // index in the Roster
  double rate = 0;                                          // B/s since the last ACK
  double demand = std::numeric_limits<double>::infinity();  // B/s that its data can use
  double price = 0;                                         // $/B of the last feedback; 0: none yet
  Nanos rtt{0};                                             // smoothed; 0: none yet
  Nanos counted{0};             // time until which `bytes` and `spent` count
  double bytes = 0, spent = 0;  // B and $ since restart()

  /// Counts bytes and payments until `now`, at the present rate and price.
  void count(Nanos now) {
    const double sent = rate * to_seconds(now - counted);
    bytes += sent;
    spent += sent * price;
    counted = now;
  }
  /// Begins a measurement.
  void restart(Nanos now) {
    count(now);
    bytes = spent = 0;
  }
  /// Mean price in $/B since restart(); the last price if nothing was sent.
  [[nodiscard]] double mean_price() const { return bytes > 0 ? spent / bytes : price; }
};

}  // namespace turnpike::sender
