// SPDX-License-Identifier: BSD-3-Clause
#include "sender/sizing.h"

#include <algorithm>
#include <cmath>

#include "common/config/path.h"
#include "sender/open_loop/cadence.h"

namespace turnpike::sender {
namespace {

constexpr size_t kLeastFlows = 64, kLeastRecords = 4096;
constexpr size_t kBuffersPerHost = 2048;  // a port's descriptors, bursts and answers on their way

double arrivals_per_second(const config::Workload& w) {
  if (const auto* a = std::get_if<config::PoissonArrivals>(&w.arrivals)) return a->per_second;
  if (const auto* a = std::get_if<config::PeriodicArrivals>(&w.arrivals)) return a->per_second;
  return 1000;  // a trace tells only when it is read
}

size_t open_at_a_time(const config::Workload& w, double lifetime) {
  const double flows = arrivals_per_second(w) * lifetime;
  return static_cast<size_t>(std::clamp(flows, 1.0, double{Sizing::kMostFlows}));
}

/// Packets that the way from one host to another and back holds with full buffers.
double packets_under_way(const config::Topology& t, size_t from, size_t to, unsigned ip_version,
                         Bytes packet) {
  const auto there = config::path_between(t, from, to, ip_version);
  double rate = INFINITY, seconds = 0;
  for (const auto& hop : there) {
    const config::Direction& d = t.links[hop.link].directions[hop.direction];
    if (d.rate.count() <= 0) continue;
    rate = std::min(rate, bytes_per_second(d.rate));
    seconds += static_cast<double>(d.buffer.count()) / bytes_per_second(d.rate);
  }
  if (there.empty() || !std::isfinite(rate)) return 0;
  const Nanos rtt = config::round_trip(t, from, to, ip_version);
  if (rtt != kNever) seconds += to_seconds(rtt);
  return rate * seconds / static_cast<double>(std::max<int64_t>(packet.count(), 64));
}

/// Packets of a stream that its way holds with full buffers.
double probes_under_way(const config::Topology& t, const config::Stream& s) {
  const config::Host& from = t.hosts[s.from];
  const Cadence cadence(s, t.links[from.link].directions[from.end]);
  const auto least = static_cast<double>(std::ranges::min(s.frames).count());
  double packets = 0;
  for (const auto& hop : config::path_between(t, s.from, s.to, s.ip_version)) {
    const config::Direction& d = t.links[hop.link].directions[hop.direction];
    packets += cadence.packets_per_second() * to_seconds(d.delay + d.jitter);
    packets += static_cast<double>(d.buffer.count()) / (least - config::kFrameBeyondDatagram);
  }
  return packets;
}

}  // namespace

Sizing size_of(const config::Topology& t, std::span<const uint32_t> hosts) {
  const auto played = [&](size_t h) { return std::ranges::find(hosts, h) != hosts.end(); };
  Sizing s;
  double under_way = 0;
  for (const config::Flow& f : t.flows) {
    if (!played(f.from)) continue;
    s.flows += f.count;
    under_way += packets_under_way(t, f.from, f.to, f.ip_version, f.packet);
  }
  for (const config::Workload& w : t.workloads) {
    if (std::ranges::none_of(w.from, played)) continue;
    s.flows += open_at_a_time(w, Sizing::kLifetime);
    double most = 0;
    for (const size_t from : w.from) {
      for (const size_t to : w.to) {
        most = std::max(most, packets_under_way(t, from, to, w.ip_version, w.packet));
      }
    }
    under_way += most;
  }
  double probes = 0;
  for (const config::Stream& stream : t.streams)
    if (played(stream.from)) probes += probes_under_way(t, stream);
  s.probes = static_cast<size_t>(std::min(probes, double{Sizing::kMostProbes}));
  s.flows = std::clamp(s.flows, kLeastFlows, Sizing::kMostFlows);
  const auto records = static_cast<size_t>(std::min(2 * under_way, 1e9)) + 16 * s.flows;
  s.records = std::clamp(records, kLeastRecords, Sizing::kMostRecords);
  s.buffers =
      std::min(2 * s.records + s.probes + kBuffersPerHost * hosts.size(), Sizing::kMostBuffers);
  return s;
}

uint32_t sink_flows(const config::Topology& t, uint32_t host) {
  size_t flows = 0;
  for (const config::Flow& f : t.flows) {
    if (f.to == host) flows += f.count;
  }
  for (const config::Workload& w : t.workloads) {
    if (std::ranges::find(w.to, host) == w.to.end()) continue;
    flows += open_at_a_time(w, 2 * Sizing::kLifetime);
  }
  return static_cast<uint32_t>(std::clamp(flows + flows / 4, kLeastFlows, Sizing::kMostFlows));
}

}  // namespace turnpike::sender
