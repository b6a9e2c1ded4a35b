// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/live.h"

#include <algorithm>

namespace turnpike::sender {
namespace {

bool starts_flows(const config::Topology& topology, size_t host) {
  const auto& workloads = topology.workloads;
  return std::any_of(topology.flows.begin(), topology.flows.end(),
                     [&](const config::Flow& f) { return f.from == host; }) ||
         std::any_of(workloads.begin(), workloads.end(), [&](const config::Workload& w) {
           return std::find(w.from.begin(), w.from.end(), host) != w.from.end();
         });
}

}  // namespace

report::LiveView view_of(const config::Topology& topology, const Recorder& recorder) {
  report::LiveView view;
  const auto rates = recorder.latest_rates();
  if (!rates) return view;
  const Sample& latest = recorder.latest();
  view.t = to_seconds(latest.now);
  for (size_t i = 0; i < topology.hosts.size(); ++i) {
    if (!starts_flows(topology, i)) continue;
    const HostReading& r = latest.hosts[i];
    view.hosts.push_back({.name = topology.hosts[i].name,
                          .rate_mbps = rates->hosts[i].count() * 1e-6,
                          .entitled_mbps = recorder.entitled(i, latest.now).count() * 1e-6,
                          .price = r.price,
                          .rtt_ms = to_seconds(r.rtt) * 1e3,
                          .flows = r.active_flows,
                          .lost = r.lost_packets});
  }
  return view;
}

}  // namespace turnpike::sender
