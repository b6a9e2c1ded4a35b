// SPDX-License-Identifier: BSD-3-Clause
// All counters of a router at one moment, summed over its workers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/protocols/link_law.h"
#include "router/datapath/drop_reason.h"

namespace turnpike::router {

/// One link, its arrivals and its egress. Drops count where at_egress() says.
struct LinkSnapshot {
  std::string name;
  BitRate rate{0};
  Bytes buffer{0};
  uint64_t rx_packets = 0, rx_bytes = 0;  // frames from the port
  uint64_t tx_packets = 0, tx_bytes = 0;  // packets the port took; bytes as capacity counts them
  uint64_t held_packets = 0, queued_bytes = 0;  // admitted, not yet taken by the port
  uint64_t stamped = 0;                         // headers that the law stamped
  uint64_t offered_bytes = 0;                   // that were to go out here
  uint64_t in_packets = 0;                      // admitted
  double waited = 0;                            // B s in the queue
  std::array<uint64_t, kDropReasons> drops{};
  std::vector<Gauge> gauges;  // the law's

  /// Drops of packets that were on their way out of this link.
  [[nodiscard]] uint64_t egress_drops() const;
};

struct Snapshot {
  std::vector<LinkSnapshot> links;
  uint64_t received = 0, originated = 0, forwarded = 0, delivered = 0, held = 0;
  uint64_t suppressed_errors = 0;
  std::vector<uint64_t> received_by;  // packets, by worker
  std::array<uint64_t, kDropReasons> drops{};

  [[nodiscard]] uint64_t dropped() const;
  /// The busiest worker's packets over the mean of all; 1 of none.
  [[nodiscard]] double imbalance() const;
  /// received + originated = forwarded + delivered + dropped + held: true whenever no worker is in
  /// the middle of a poll.
  [[nodiscard]] bool conserved() const {
    return received + originated == forwarded + delivered + dropped() + held;
  }
};

}  // namespace turnpike::router
