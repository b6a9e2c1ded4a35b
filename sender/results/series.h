// SPDX-License-Identifier: BSD-3-Clause
// A run's time series and flows as CSV.
#pragma once

#include <string>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// A line per sampling interval and sending host (flow is empty), and per flow group that has been
/// open: t (s, the interval's end), host, flow, rate_mbps (acknowledged), sent_mbps (with
/// retransmissions), offered_mbps (asked for by pacing), price ($/B), budget ($/s that
/// the network counts on), rtt_ms, queueing_ms, lost (packets so far), flows (open). A workload's
/// host is empty, for it has several.
std::string rates_csv(const config::Topology& topology, const Record& record);

/// A line per flow, by start: id, flow (the entry it stems from), host, to, start_s, bytes,
/// completion_s (empty unless it completed), packets, retransmissions.
std::string flows_csv(const config::Topology& topology, const Record& record);

}  // namespace turnpike::sender
