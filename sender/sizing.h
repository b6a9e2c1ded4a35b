// SPDX-License-Identifier: BSD-3-Clause
// How much room a topology's traffic needs: everything is allocated before the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/config/topology.h"

namespace turnpike::sender {

/// Rules, so that nobody has to guess numbers into a file:
///  - flows open at a time: every flow that the file names, plus kLifetime's worth of arrivals of
///    each workload; when there are more, arrivals wait and are counted as delayed;
///  - packets in flight: twice what the path holds at its narrowest link's rate, buffers full,
///    plus sixteen a flow;
///  - packets of open-loop streams: what full buffers and the delays of their way hold;
///  - buffers: as many again for what a host answers, plus the streams', plus what ports and bursts
///  hold.
/// Both are bounded, for memory's sake.
struct Sizing {
  static constexpr double kLifetime = 4;  // s that a workload's flow is expected to live at most
  static constexpr size_t kMostFlows = size_t{1} << 20;
  static constexpr size_t kMostRecords = size_t{1} << 22;
  static constexpr size_t kMostProbes = size_t{1} << 20;
  static constexpr size_t kMostBuffers = size_t{1} << 18;

  size_t flows = 0;    // open at a time at these hosts as sources
  size_t records = 0;  // their packets in flight
  size_t probes = 0;   // packets of open-loop streams on their way from these hosts
  size_t buffers = 0;  // mbufs
};

/// For an lcore that plays these hosts.
Sizing size_of(const config::Topology& topology, std::span<const uint32_t> hosts);

/// Flows that a host receives at a time, those that have just ended included.
uint32_t sink_flows(const config::Topology& topology, uint32_t host);

}  // namespace turnpike::sender
