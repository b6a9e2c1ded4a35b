// SPDX-License-Identifier: BSD-3-Clause
// Writes a run's time series and flows as CSV.
#pragma once

#include <string>

#include "common/config/topology.h"
#include "common/report/whole_file.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// One line per sampling interval and sending host (flow is empty), and per flow group that has
/// been open: t (s, the interval's end), host, flow, rate_mbps (acknowledged), sent_mbps (with
/// retransmissions), offered_mbps (allowed by pacing), price ($/B), budget ($/s committed), rtt_ms,
/// queueing_ms, lost (packets so far), flows (open). `host` is empty for workloads, which have
/// several.
std::string rates_csv(const config::Topology& topology, const Record& record);

/// Writes one line per flow, in order of start: id, flow (its entry's name), host, to, start_s,
/// bytes, completion_s (empty unless completed), packets, retransmissions, ended. Line by line: a
/// run may have millions of flows.
void write_flows_csv(const config::Topology& topology, const Record& record,
                     report::WholeFile& file);

}  // namespace turnpike::sender
