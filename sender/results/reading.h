// SPDX-License-Identifier: BSD-3-Clause
// Plain copies of running totals at one instant: what a sample is made of.
#pragma once

#include <cstdint>
#include <optional>

#include "common/units/units.h"
#include "sender/observed.h"

namespace turnpike::sender {

/// What one host had done by the time of a sample. Counts run from the start; bytes are IP
/// datagrams.
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
  Nanos queueing{0};     // that less the least RTT which the flow has seen
};

/// What one flow group had done by then: an entry of Topology::flows, or a workload.
struct GroupReading {
  uint64_t sent_bytes = 0;   // retransmissions included
  uint64_t acked_bytes = 0;  // for the first time
  uint32_t active_flows = 0;
  double committed = 0;  // $/s
};

/// What a run could and could not play for want of room, of all hosts.
struct LimitsReading {
  uint64_t started = 0, not_started = 0;  // flows; together, all that were asked for
  uint64_t delayed = 0;                   // flows that started late
  uint64_t out_of_records = 0;            // tries to send: every in-flight record was taken
  uint64_t out_of_buffers = 0;            // tries to send or answer: there was no mbuf
  uint64_t refused_packets = 0;           // that a receiver had no room to remember

  void add(const LimitsReading& other) {
    started += other.started;
    not_started += other.not_started;
    delayed += other.delayed;
    out_of_records += other.out_of_records;
    out_of_buffers += other.out_of_buffers;
    refused_packets += other.refused_packets;
  }
};

/// Percentiles of a delay, from whatever histogram counted it.
struct Spread {
  uint64_t count = 0;
  Nanos mean{0}, p50{0}, p90{0}, p99{0}, p999{0}, max{0};
};

/// What a run made of an open-loop stream, its ends by the senders that played them.
struct StreamReading {
  struct Sent {
    uint64_t offered = 0;                 // packets that were due
    uint64_t packets = 0, bytes = 0;      // B of frames with FCS
    uint64_t no_buffer = 0, no_room = 0;  // times that it could not send for want of one
    Nanos active{0};                      // for how long it was to send
    Spread lag = {};                      // from due to sent
  };
  struct Received {
    uint64_t packets = 0, bytes = 0;  // for the first time
    uint64_t next = 0;                // one more than the greatest number that came
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
