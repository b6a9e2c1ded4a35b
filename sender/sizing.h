// SPDX-License-Identifier: BSD-3-Clause
// How much room a topology's traffic needs: everything is allocated before the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/config/path.h"
#include "common/config/topology.h"
#include "sender/workload/trace.h"

namespace turnpike::sender {

/// Rules, so that nobody has to guess numbers into a file:
///  - flows open at a time: every flow that the file names, plus kLifetime's worth of arrivals of
///    each workload, of a trace the most that it has in so long a span; when there are more,
///    arrivals wait and are counted as delayed;
///  - packets under way: by Little's law, the rate of a link that flows share times the longest
///  stay
///    on the path of one of them, with full buffers; each such link once, however many flows share
///    it;
///  - records of packets in flight: eight times that, for slow start may lose every other packet
///  and
///    a lost packet keeps its record until it has been sent again, plus kRecordsPerFlow a flow;
///  - buffers, of a packet and then of its acknowledgement: twice that, plus kRecordsPerFlow for
///    each flow that the file names and two for each that a workload may have open, plus the
///    streams';
///  - packets of open-loop streams: as many as full buffers and the delays of their path hold.
/// All are bounded. Whatever runs out is counted, and the run's summary says so.
struct Sizing {
  static constexpr double kLifetime = 4;  // s that a workload's flow is expected to live at most
  static constexpr size_t kRecordsPerFlow = 16;
  static constexpr size_t kMaxFlows = size_t{1} << 20;
  static constexpr size_t kMaxRecords = size_t{1} << 28;
  static constexpr size_t kMaxOwnRecords = size_t{1} << 22;  // of a program on real ports
  static constexpr size_t kMaxProbes = size_t{1} << 20;
  static constexpr size_t kMaxBuffers = size_t{1} << 18;  // of a program on real ports

  size_t flows = 0;    // open at a time at these hosts as sources
  size_t records = 0;  // their packets in flight
  size_t probes = 0;   // packets of open-loop streams on their way from these hosts
  size_t packets =
      0;  // mbufs for all that is under way from these hosts, acknowledgements included
  size_t buffers = 0;  // mbufs of a program that plays these hosts on real ports
  // The link that most of the packets under way are there for; nothing is under way: none.
  std::optional<config::Hop> largest = {};
};

/// For an lcore that plays these hosts. `traces` of the topology's workloads; arrivals of one that
/// is not among them are taken for 1000 a second.
Sizing size_of(const config::Topology& topology, std::span<const uint32_t> hosts,
               const Traces& traces = {});

/// Flows that a host receives at a time, those that have just ended included.
uint32_t sink_flows(const config::Topology& topology, uint32_t host, const Traces& traces = {});

}  // namespace turnpike::sender
