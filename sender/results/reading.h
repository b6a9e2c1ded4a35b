// SPDX-License-Identifier: BSD-3-Clause
// Copies of running totals at one instant: the parts of a sample.
#pragma once

#include <cstdint>
#include <optional>

#include "common/units/units.h"
#include "sender/observed.h"

namespace turnpike::sender {

/// Totals of one host since the start of the run. Bytes are of IP datagrams.
struct HostReading {
  uint64_t sent_packets = 0, sent_bytes = 0;
  uint64_t sent_probes = 0;
  uint64_t acked_packets = 0, acked_bytes = 0;
  uint64_t received_packets = 0, received_bytes = 0;
  uint64_t lost_packets = 0, retransmitted_packets = 0, timeouts = 0;
  uint64_t offered_bytes = 0;
  uint32_t active_flows = 0;
  double spend = 0;      // $ so far
  double committed = 0;  // $/s
  double price = 0;      // $/B
  Nanos rtt{0};          // smoothed, of the flow that was acknowledged last; 0: none yet
  Nanos queueing{0};     // `rtt` minus the flow's minimum RTT
};

/// Totals of one flow group, an entry of Topology::flows or Topology::workloads, since the start.
struct GroupReading {
  uint64_t sent_bytes = 0;   // retransmissions included
  uint64_t acked_bytes = 0;  // for the first time
  uint32_t active_flows = 0;
  double committed = 0;  // $/s
};

/// Started flows and exhausted resources, summed over hosts.
struct LimitsReading {
  uint64_t started = 0, not_started = 0;  // flows; together, all flows that were due
  uint64_t delayed = 0;                   // flows that started late
  uint64_t out_of_records = 0;            // attempts to send without a free in-flight record
  uint64_t out_of_buffers = 0;            // attempts to send or reply without a free mbuf
  uint64_t refused_packets = 0;           // at receivers without memory for the flow or gap

  void add(const LimitsReading& other) {
    started += other.started;
    not_started += other.not_started;
    delayed += other.delayed;
    out_of_records += other.out_of_records;
    out_of_buffers += other.out_of_buffers;
    refused_packets += other.refused_packets;
  }
};

/// Percentiles of a delay.
struct Spread {
  uint64_t count = 0;
  Nanos mean{0}, p50{0}, p90{0}, p99{0}, p999{0}, max{0};
};

/// Totals of an open-loop stream; each end is set by the sender that ran it.
struct StreamReading {
  struct Sent {
    uint64_t offered = 0;                 // packets that were due
    uint64_t packets = 0, bytes = 0;      // B of frames with FCS
    uint64_t no_buffer = 0, no_room = 0;  // see Departures
    Nanos active{0};                      // time from its start to its end
    Spread lag = {};                      // from due to sent
  };
  struct Received {
    uint64_t packets = 0, bytes = 0;  // first copies
    uint64_t next = 0;                // one more than the greatest sequence number received
    uint64_t reordered = 0, duplicates = 0, too_old = 0, strange = 0, untimed = 0;
    Spread latency = {};
  };
  std::optional<Sent> sent;
  std::optional<Received> received;
};

/// Reads the totals once.
inline HostReading read(const HostTotals& t) {
  return {
      .sent_packets = t.sent_packets.read(),
      .sent_bytes = t.sent_bytes.read(),
      .sent_probes = t.sent_probes.read(),
      .acked_packets = t.acked_packets.read(),
      .acked_bytes = t.acked_bytes.read(),
      .received_packets = t.received_packets.read(),
      .received_bytes = t.received_bytes.read(),
      .lost_packets = t.lost_packets.read(),
      .retransmitted_packets = t.retransmitted_packets.read(),
      .timeouts = t.timeouts.read(),
      .offered_bytes = t.offered_bytes.read(),
      .active_flows = t.active_flows.load(std::memory_order_relaxed),
      .spend = t.spend.load(std::memory_order_relaxed),
      .committed = t.committed.load(std::memory_order_relaxed),
      .price = t.price.load(std::memory_order_relaxed),
      .rtt = Nanos(t.rtt.load(std::memory_order_relaxed)),
      .queueing = Nanos(t.queueing.load(std::memory_order_relaxed)),
  };
}

/// Adds one lcore's part of a group.
inline void add(GroupReading& sum, const GroupTotals& t) {
  sum.sent_bytes += t.sent_bytes.read();
  sum.acked_bytes += t.acked_bytes.read();
  sum.active_flows += t.active_flows.load(std::memory_order_relaxed);
  sum.committed += t.committed.load(std::memory_order_relaxed);
}

}  // namespace turnpike::sender
