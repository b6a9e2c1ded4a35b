// SPDX-License-Identifier: BSD-3-Clause
// All counters of a router at one time, summed over its workers.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "common/protocols/link_law.h"
#include "router/datapath/drop_reason.h"
#include "router/datapath/enforcement/refusal.h"

namespace turnpike::router {

/// One link's ingress and egress. at_egress() says at which link a drop counts. Received packets
/// include those that the port's NIC dropped for the router, without their bytes.
struct LinkSnapshot {
  std::string name;
  BitRate rate{0};
  Bytes buffer{0};
  // Bytes in both directions as in the capacity: the IP datagram and the link's overhead a packet.
  uint64_t rx_packets = 0, rx_bytes = 0;        // frames from the port
  uint64_t tx_packets = 0, tx_bytes = 0;        // packets that the port took
  uint64_t held_packets = 0, queued_bytes = 0;  // admitted, not yet taken by the port
  uint64_t stamped = 0;                         // headers that the law stamped
  uint64_t offered_bytes = 0;                   // of packets for this link, dropped or not
  uint64_t in_packets = 0;                      // admitted
  double waited = 0;                            // B s in the queue
  std::array<uint64_t, kDropReasons> drops{};
  std::vector<Gauge> gauges;  // the law's

  /// Drops of packets routed to this link.
  [[nodiscard]] uint64_t egress_drops() const;
};

/// A customer some of whose packets an edge router has dropped (drop reason over_budget).
struct CustomerSnapshot {
  std::string name;
  Budget budget{0};
  std::array<uint64_t, kRefusals> packets{};  // by kRefusalNames
  uint64_t bytes = 0;                         // of them

  [[nodiscard]] uint64_t dropped() const {
    return std::accumulate(packets.begin(), packets.end(), uint64_t{0});
  }
};

/// A sender whose packets an audit at a last link has dropped (drop reason unpaid).
struct OffenderSnapshot {
  std::string link;
  std::string source;  // address
  double owed = 0;     // share of its charges
  uint64_t offences = 0, dropped = 0;
};

/// Packets of a router whose control plane is Linux; `waiting`: at present.
struct PuntSnapshot {
  std::array<uint64_t, config::kPuntClasses> punted{};   // put into the queue to Linux
  std::array<uint64_t, config::kPuntClasses> limited{};  // dropped by their class's rate
  std::array<uint64_t, config::kPuntClasses> dropped{};  // the queue to Linux was full
  uint64_t waiting = 0;   // for a neighbour's MAC address; part of `held`
  uint64_t unusable = 0;  // frames from Linux that fit no packet buffer: not sent
};

/// Packets since the start, except `held`: at present.
struct Snapshot {
  std::vector<LinkSnapshot> links;
  uint64_t received = 0, originated = 0, forwarded = 0, delivered = 0, held = 0;
  uint64_t suppressed_errors = 0;
  std::vector<uint64_t> received_by;  // packets, by worker
  std::array<uint64_t, kDropReasons> drops{};
  std::optional<PuntSnapshot> punt;  // none: Linux is not the control plane

  [[nodiscard]] uint64_t dropped() const;
  /// The busiest worker's packets divided by the mean over workers; 1 without packets.
  [[nodiscard]] double imbalance() const;
  /// received + originated = forwarded + delivered + dropped + held; true while no worker is in the
  /// middle of a poll.
  [[nodiscard]] bool conserved() const {
    return received + originated == forwarded + delivered + dropped() + held;
  }
};

}  // namespace turnpike::router
