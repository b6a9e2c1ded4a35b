// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/summary.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "sender/results/completion.h"
#include "sender/results/link_name.h"
#include "sender/results/streams.h"

namespace turnpike::sender {
namespace {

using config::Topology;
using nlohmann::json;

double mbps(uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) * 8e-6 / seconds : 0;
}

json spread_json(const Spread& s) {
  const auto ms = [](Nanos t) { return to_seconds(t) * 1e3; };
  return {{"count", s.count}, {"mean", ms(s.mean)}, {"p50", ms(s.p50)}, {"p90", ms(s.p90)},
          {"p99", ms(s.p99)}, {"p999", ms(s.p999)}, {"max", ms(s.max)}};
}

json hosts_json(const Topology& topology, const Record& record, double seconds) {
  json out = json::object();
  for (size_t i = 0; i < topology.hosts.size(); ++i) {
    const HostReading r = record.samples.empty() ? HostReading() : record.samples.back().hosts[i];
    json& host = out[topology.hosts[i].name];
    host = {{"budget", topology.hosts[i].budget.count()},
            {"goodput_mbps", mbps(r.acked_bytes, seconds)},
            {"sent_mbps", mbps(r.sent_bytes, seconds)},
            {"offered_mbps", mbps(r.offered_bytes, seconds)},
            {"received_mbps", mbps(r.received_bytes, seconds)},
            {"spend", r.spend},
            {"sent_packets", r.sent_packets},
            {"sent_probes", r.sent_probes},
            {"lost_packets", r.lost_packets},
            {"retransmitted_packets", r.retransmitted_packets}};
    if (record.delays[i].rtt.count > 0) {
      host["rtt_ms"] = spread_json(record.delays[i].rtt);
      host["queueing_ms"] = spread_json(record.delays[i].queueing);
    }
  }
  return out;
}

json links_json(const Topology& topology) {
  json out = json::object();
  for (size_t l = 0; l < topology.links.size(); ++l)
    for (size_t d = 0; d < 2; ++d) {
      const config::Direction& direction = topology.links[l].directions[d];
      out[link_name(topology, {l, d})] = {{"law", direction.law.protocol},
                                          {"rate_mbps", direction.rate.count() * 1e-6}};
    }
  return out;
}

/// Utilisation of each link on a flow's path, as a fraction of the link's rate.
json utilization_json(const Topology& topology, const Phase& phase, const Measured& measured) {
  std::vector<std::array<double, 2>> used(topology.links.size());
  for (size_t i = 0; i < topology.flows.size(); ++i) {
    const config::Flow& f = topology.flows[i];
    for (const config::Hop& hop : config::hops_of(topology, f)) {
      const config::Direction& d = topology.links[hop.link].directions[hop.direction];
      used[hop.link][hop.direction] +=
          measured.groups[i].count() / payload_fraction(d, f.packet) / d.rate.count();
    }
  }
  json out = json::object();
  for (size_t l = 0; l < used.size(); ++l)
    for (size_t d = 0; d < 2; ++d) {
      const config::Hop hop{l, d};
      const bool bottleneck = std::find(phase.bottlenecks.begin(), phase.bottlenecks.end(), hop) !=
                              phase.bottlenecks.end();
      if (used[l][d] > 0 || bottleneck)
        out[link_name(topology, hop)] = {{"utilization", used[l][d]}, {"bottleneck", bottleneck}};
    }
  return out;
}

json lcores_json(const Topology& topology, const RunEnd& end) {
  json out = json::array();
  for (const LcoreReading& lcore : end.lcores) {
    json hosts = json::array();
    for (const uint32_t h : lcore.hosts) hosts.push_back(topology.hosts[h].name);
    out.push_back({{"hosts", std::move(hosts)},
                   {"busy", lcore.busy},
                   {"stalled_ms", to_seconds(lcore.stalled) * 1e3}});
  }
  return out;
}

json interval_json(const Topology& topology, const Phase& phase, const Measured& measured) {
  json hosts = json::object();
  for (size_t i = 0; i < phase.hosts.size(); ++i) {
    if (!(phase.hosts[i].count() > 0)) continue;
    hosts[topology.hosts[i].name] = {{"measured_mbps", measured.hosts[i].count() * 1e-6},
                                     {"entitled_mbps", phase.hosts[i].count() * 1e-6},
                                     {"error", measured.hosts[i] / phase.hosts[i] - 1}};
  }
  return {{"from", to_seconds(phase.from)},
          {"to", to_seconds(phase.to)},
          {"hosts", hosts},
          {"links", utilization_json(topology, phase, measured)}};
}

json verdict_json(const Topology& topology, const Record& record, const json& intervals) {
  double worst = 0, lowest = 1;
  for (const json& i : intervals) {
    for (const json& host : i["hosts"])
      worst = std::max(worst, std::fabs(host["error"].get<double>()));
    for (const json& link : i["links"])
      if (link["bottleneck"] == true) lowest = std::min(lowest, link["utilization"].get<double>());
  }
  uint64_t lost = 0;
  if (!record.samples.empty())
    for (const HostReading& r : record.samples.back().hosts) lost += r.lost_packets;
  return {{"intervals", intervals.size()},
          {"worst_error", worst},
          {"tolerance", topology.run.tolerance},
          {"shares_ok", !intervals.empty() && worst <= topology.run.tolerance},
          {"lowest_utilization", lowest},
          {"utilization_ok", !intervals.empty() && lowest >= kMinUtilization},
          {"lost_packets", lost}};
}

}  // namespace

json run_summary(const Topology& topology, const Record& record, const RunEnd& end) {
  const double seconds = to_seconds(end.now);
  uint64_t packets = 0;
  if (!record.samples.empty())
    for (const HostReading& r : record.samples.back().hosts) packets += r.sent_packets;
  json intervals = json::array();
  for (Phase p : steady_intervals(topology, actual_busy(topology, record))) {
    p.to = std::min(p.to, end.now);  // a run may be cut short
    if (const auto measured = measure(record, p.from, p.to))
      intervals.push_back(interval_json(topology, p, *measured));
  }
  json out = {{"scenario", topology.run.name},
              {"seed", topology.run.seed},
              {"duration_s", seconds},
              {"wall_s", end.wall_s ? json(*end.wall_s) : json()},
              {"packets", packets},
              {"links", links_json(topology)},
              {"hosts", hosts_json(topology, record, seconds)},
              {"flows", completion_summary(topology, record)},
              {"intervals", intervals},
              {"verdict", verdict_json(topology, record, intervals)},
              {"facts", end.facts}};
  if (const auto& l = record.limits)
    out["limits"] = {{"out_of_records", l->out_of_records},
                     {"out_of_buffers", l->out_of_buffers},
                     {"refused_packets", l->refused_packets}};
  if (!topology.streams.empty()) out["streams"] = streams_json(topology, record, end);
  if (!end.lcores.empty()) out["lcores"] = lcores_json(topology, end);
  if (end.unix_s > 0) out["unix_s"] = end.unix_s;
  return out;
}

bool verdict_good(const json& summary) {
  if (!summary.is_object() || !summary.contains("verdict")) return false;
  const json& v = summary["verdict"];
  return v.is_object() && v.value("shares_ok", json()) == true &&
         v.value("utilization_ok", json()) == true && v.value("lost_packets", json()) == 0 &&
         v.value("dropped_packets", json(0)) == 0;
}

}  // namespace turnpike::sender
