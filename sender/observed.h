// SPDX-License-Identifier: BSD-3-Clause
// What hosts tell about themselves while they run: the contract between playing and reporting.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/metrics/counter.h"
#include "common/units/units.h"

namespace turnpike::sender {

/// Running totals of one host; its lcore writes, the reporter reads. Bytes are IP datagrams.
struct HostTotals {
  metrics::Counter sent_packets, sent_bytes;    // data packets, retransmissions included
  metrics::Counter sent_probes;                 // packets of headers alone that laws asked for
  metrics::Counter acked_packets, acked_bytes;  // as a source: acknowledged for the first time
  metrics::Counter received_packets, received_bytes;  // as a sink: new data only
  metrics::Counter duplicate_packets;                 // as a sink: data it had already
  metrics::Counter lost_packets, retransmitted_packets, timeouts;
  metrics::Counter opened_flows, completed_flows;
  metrics::Counter given_up_flows;  // after Source::kMaxTimeouts time-outs in a row
  metrics::Counter forged_packets;  // of a known flow, with a wrong token
  metrics::Counter bad_packets, bad_feedback, unknown_flows, duplicate_acks, resets;
  metrics::Counter out_of_records;       // could not send: every in-flight record is taken
  metrics::Counter out_of_buffers;       // could not send or answer: no mbuf
  metrics::Counter queue_full;           // could not send or answer: the port is behind
  metrics::Counter foreign_packets;      // sound, but not for this host or not Turnpike's
  metrics::Counter refused_packets;      // as a sink: no room to remember flow or packet
  metrics::Counter delayed_flows;        // started late: waited for a place in the flow table
  metrics::Counter unstarted_flows;      // asked for, and found no place before the run's end
  metrics::Counter answered_neighbours;  // ARP and ND replies
  metrics::Counter offered_bytes;        // what pacing asked for by now; sent < offered: too slow
  std::atomic<uint32_t> active_flows{0};
  std::atomic<double> budget{0};  // $/s now; of each flow where the budget is not shared
  std::atomic<double> spend{0};   // $ paid so far: sum of price x size
  // $ of that which no flow's budget paid for: of packets that a flow sends at its floor rate to
  // hear prices, and of its first packet where that left before the rate had saved it up.
  std::atomic<double> unbudgeted_spend{0};
  std::atomic<double> committed{0};  // $/s the network counts on now: sum of w_i + pend_i
  std::atomic<double> price{0};      // $/B, of the flow that last had feedback
  std::atomic<int64_t> rtt{0};       // ns, smoothed, of the flow that was acknowledged last
  std::atomic<int64_t> queueing{0};  // ns, that less the least RTT the flow has seen
};

/// Running totals of one flow group on one lcore; a group is an entry of Topology::flows, then of
/// Topology::workloads. Bytes are IP datagrams.
struct GroupTotals {
  metrics::Counter sent_bytes, acked_bytes;  // retransmissions included; for the first time
  std::atomic<uint32_t> active_flows{0};
  std::atomic<double> committed{0};  // $/s the network counts on now, on this lcore
  uint32_t open_flows = 0;           // closing ones included; for the lcore alone
};

/// How a flow ended; kOpen: the run did first, kUnanswered: likewise, after several time-outs in a
/// row.
enum class FlowEnd : uint8_t { kOpen, kUnanswered, kClosed, kReset, kGivenUp };

/// A flow that ended, or was still open when the run stopped.
struct FlowOutcome {
  uint32_t id = 0;
  uint32_t host = 0, to = 0;  // indices into Topology::hosts
  uint32_t source = 0;        // index into Topology::flows, or flows.size() + workload index
  Nanos start{0}, end{0};     // asked for; FIN-ACK received (completed), reset or run's end
  uint64_t bytes = 0;         // payload delivered
  uint32_t packets = 0, retransmissions = 0;
  bool completed = false;  // everything asked for was delivered
  FlowEnd ended = FlowEnd::kOpen;
};

/// Where outcomes go; called by lcores, must not block.
class OutcomeSink {
 public:
  virtual ~OutcomeSink() = default;
  virtual void flow_ended(const FlowOutcome& outcome) = 0;
};

}  // namespace turnpike::sender
