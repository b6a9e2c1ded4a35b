// SPDX-License-Identifier: BSD-3-Clause
// Builds summary.json, the results of a run.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/config/topology.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// The utilisation that a bottleneck must reach in every steady interval.
inline constexpr double kMinUtilization = 0.95;

/// scenario, seed, duration_s, wall_s, packets (data, sent); links {NAME: law, rate_mbps}; hosts
/// {NAME: budget, goodput_mbps, sent_mbps, offered_mbps, spend, packets sent, lost and
/// retransmitted, rtt_ms, queueing_ms}; flows: see completion_summary(); limits {out_of_records,
/// out_of_buffers, refused_packets}: exhausted resources; intervals [{from, to, hosts {NAME:
/// measured_mbps, entitled_mbps, error}, links {NAME: utilization, bottleneck}}]; verdict; facts;
/// unix_s. Rates count IP datagrams. A router's results on its links are added later.
nlohmann::json run_summary(const config::Topology& topology, const Record& record,
                           const RunEnd& end);

/// Whether the verdict of a summary is good: shares, utilisation, and no losses.
bool verdict_good(const nlohmann::json& summary);

}  // namespace turnpike::sender
