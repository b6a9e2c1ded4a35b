// SPDX-License-Identifier: BSD-3-Clause
// Counters and outcomes that hosts publish: the interface between the lcores and the reports.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/metrics/counter.h"
#include "common/units/units.h"

namespace turnpike::sender {

/// Running totals of one host. Its lcore writes; any thread reads. Bytes are of IP datagrams.
struct HostTotals {
  metrics::Counter sent_packets, sent_bytes;    // data packets, retransmissions included
  metrics::Counter sent_probes;                 // packets of headers alone that laws request
  metrics::Counter acked_packets, acked_bytes;  // as a source: acknowledged for the first time
  metrics::Counter received_packets, received_bytes;  // as a sink: new data only
  metrics::Counter duplicate_packets;                 // as a sink: data received before
  metrics::Counter lost_packets, retransmitted_packets, timeouts;
  metrics::Counter opened_flows, completed_flows;
  metrics::Counter given_up_flows;  // after Source::kMaxTimeouts time-outs in a row
  metrics::Counter forged_packets;  // of a known flow, with a wrong token
  metrics::Counter bad_packets, bad_feedback, unknown_flows, duplicate_acks, resets;
  metrics::Counter out_of_records;       // not sent: no free in-flight record
  metrics::Counter out_of_buffers;       // not sent or no reply: no free mbuf
  metrics::Counter queue_full;           // not sent or no reply: TX buffer full
  metrics::Counter foreign_packets;      // well formed, but not for this host or not Turnpike's
  metrics::Counter refused_packets;      // as a sink: no memory for the flow or a gap
  metrics::Counter delayed_flows;        // started late: waited for an entry of the flow table
  metrics::Counter unstarted_flows;      // due, but without an entry until the run's end
  metrics::Counter answered_neighbours;  // ARP and ND replies
  metrics::Counter offered_bytes;        // that pacing allowed by now; sent < offered: too slow
  std::atomic<uint32_t> active_flows{0};
  std::atomic<double> budget{0};  // $/s; of each flow where flows do not share the budget
  std::atomic<double> spend{0};   // $ paid so far: sum of price x size
  // $, the part of `spend` that no flow's budget covers: packets at the floor rate, which a flow
  // sends to learn prices, and a first packet that left before its rate had paid for it.
  std::atomic<double> unbudgeted_spend{0};
  std::atomic<double> committed{0};  // $/s that links may count on: sum of w_i + pend_i
  std::atomic<double> price{0};      // $/B, of the flow that received feedback last
  std::atomic<int64_t> rtt{0};       // ns, smoothed, of the flow that was acknowledged last
  std::atomic<int64_t> queueing{0};  // ns, `rtt` minus the flow's minimum RTT
};

/// Running totals of one flow group on one lcore; a group is an entry of Topology::flows, then of
/// Topology::workloads. Bytes are of IP datagrams.
struct GroupTotals {
  // Sent: retransmissions included. Acknowledged: for the first time.
  metrics::Counter sent_bytes, acked_bytes;
  std::atomic<uint32_t> active_flows{0};
  std::atomic<double> committed{0};  // $/s that links may count on, on this lcore
  uint32_t open_flows = 0;           // closing ones included; only the lcore reads it
};

/// How a flow ended. kOpen: the run ended first; kUnanswered: the same, after several time-outs in
/// a row.
enum class FlowEnd : uint8_t { kOpen, kUnanswered, kClosed, kReset, kGivenUp };

/// A flow that ended, or was still open when the run stopped.
struct FlowOutcome {
  uint32_t id = 0;
  uint32_t host = 0;       // sender, index into Topology::hosts
  uint32_t to = 0;         // Topology::destination_of() the flow
  uint32_t source = 0;     // index into Topology::flows, or flows.size() + workload index
  Nanos start{0}, end{0};  // scheduled start; FIN-ACK (completed), reset or the run's end
  uint64_t bytes = 0;      // payload delivered
  uint32_t packets = 0, retransmissions = 0;
  bool completed = false;  // the whole size was delivered
  FlowEnd ended = FlowEnd::kOpen;
};

/// Receives outcomes. Lcores call it: it must not block.
class OutcomeSink {
 public:
  virtual ~OutcomeSink() = default;
  virtual void flow_ended(const FlowOutcome& outcome) = 0;
};

}  // namespace turnpike::sender
