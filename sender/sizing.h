// SPDX-License-Identifier: BSD-3-Clause
// Derives the sizes of tables and pools from a topology's traffic: all are allocated before the
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/config/path.h"
#include "common/config/topology.h"
#include "sender/workload/trace.h"

namespace turnpike::sender {

/// Sizes follow from the topology, so that its file need not give them:
///  - flows open at a time: every flow that the file names, plus each workload's arrivals in
///    kLifetime; for a trace, its greatest number of arrivals in such a span. Arrivals beyond that
///    wait and are counted as delayed.
///  - packets under way, by Little's law: the rate of a shared link times the longest time that a
///    packet of its flows may spend on its path with full buffers. Each such link counts once,
///    regardless of the number of flows. With very many pairs of hosts, as many as all links hold.
///  - records of packets in flight: eight times the packets under way, because slow start may lose
///    every other packet and a lost packet keeps its record until its retransmission, plus
///    kRecordsPerFlow per flow.
///  - mbufs, for a packet and then its acknowledgement: twice the packets under way, plus
///    kRecordsPerFlow for each flow that the file names, two for each flow that a workload may have
///    open, and the packets of streams.
///  - packets of open-loop streams: as many as full buffers and the delays of their path hold.
/// Every size has an upper bound. Counters and the run's summary report each that is exhausted.
struct Sizing {
  static constexpr double kLifetime = 4;  // s, expected upper bound of a workload flow's lifetime
  static constexpr size_t kRecordsPerFlow = 16;
  static constexpr size_t kMaxFlows = size_t{1} << 20;
  static constexpr size_t kMaxRecords = size_t{1} << 28;
  static constexpr size_t kMaxOwnRecords = size_t{1} << 22;  // of a program on real ports
  static constexpr size_t kMaxProbes = size_t{1} << 20;
  static constexpr size_t kMaxBuffers = size_t{1} << 18;  // of a program on real ports

  size_t flows = 0;    // open at a time at these hosts as sources
  size_t records = 0;  // of packets in flight of these flows
  size_t probes = 0;   // packets under way of open-loop streams from these hosts
  size_t packets =
      0;  // mbufs for packets under way from these hosts and for their acknowledgements
  size_t buffers = 0;  // mbufs of a program that runs these hosts on real ports
  // Of `packets`, those that the run's flows have by their sizes. Less only in large networks, in
  // which it is not known which paths share which links.
  size_t likely = 0;
  // The link that accounts for most of the packets under way; no traffic: none.
  std::optional<config::Hop> largest = {};
};

/// Sizes for an lcore that runs these hosts. `hosts`: indices into Topology::hosts. `traces`: those
/// of the topology's workloads; a trace that is missing there counts as 1000 arrivals per second.
Sizing size_of(const config::Topology& topology, std::span<const uint32_t> hosts,
               const Traces& traces = {});

/// Sizing::flows alone, which takes no paths.
size_t flows_of(const config::Topology& topology, std::span<const uint32_t> hosts,
                const Traces& traces = {});

/// Number of flows that a host receives at a time, including flows that have just ended.
uint32_t sink_flows(const config::Topology& topology, uint32_t host, const Traces& traces = {});

}  // namespace turnpike::sender
