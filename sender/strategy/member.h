// SPDX-License-Identifier: BSD-3-Clause
// A flow as its host's strategy sees it.
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace turnpike::sender {

/// What all flows of one entry of the topology's traffic ask of their host's strategy.
struct Terms {
  double share = 1;         // weight within the host's budget
  double hold = 0;          // B/s that strategy `stability` holds, 0: none
  bool background = false;  // takes a ten-thousandth of the budget and no more
};

/// Lives in the flow. Rates are those of its pace, which counts fractions of a packet: over one
/// round trip whole delivered packets would be too coarse to compare experiments by.
struct Member {
  const Terms* terms = nullptr;  // outlives the member
  double weight = 0;             // the strategy's own, as it likes
  uint32_t place = 0;            // likewise
  double rate = 0;               // B/s since the last ACK
  double price = 0;              // $/B as last fed back, 0: none yet
  Nanos rtt{0};                  // smoothed, 0 likewise
  Nanos counted{0};              // until when these two are counted
  double bytes = 0, spent = 0;   // B and $ since the strategy last began to measure

  /// Rate and price have held until `now`.
  void count(Nanos now) {
    const double sent = rate * to_seconds(now - counted);
    bytes += sent;
    spent += sent * price;
    counted = now;
  }
  void restart(Nanos now) {
    count(now);
    bytes = spent = 0;
  }
  /// $/B on average since the strategy began to measure.
  [[nodiscard]] double mean_price() const { return bytes > 0 ? spent / bytes : price; }
};

}  // namespace turnpike::sender
