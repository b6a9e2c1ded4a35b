// SPDX-License-Identifier: BSD-3-Clause
#include "sender/sizing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "common/config/all_pairs.h"
#include "common/config/path.h"
#include "sender/open_loop/constant_rate.h"

namespace turnpike::sender {
namespace {

constexpr size_t kMinFlows = 64, kMinRecords = 4096;
constexpr size_t kBuffersPerHost = 2048;  // a port's descriptors, bursts and replies
constexpr size_t kRecordsPerPacket = 4;   // a lost packet keeps its record until retransmitted
constexpr double kUnknownRate = 1000;     // arrivals per second of a trace that has not been read

double arrivals_per_second(const config::Workload& w) {
  if (const auto* a = std::get_if<config::PoissonArrivals>(&w.arrivals)) return a->per_second;
  if (const auto* a = std::get_if<config::PeriodicArrivals>(&w.arrivals)) return a->per_second;
  if (const auto* a = std::get_if<config::UniformArrivals>(&w.arrivals))
    return 2 / to_seconds(a->least + a->most);
  return kUnknownRate;
}

/// The part of a workload's flows that some of `hosts`, from which they are drawn, have.
double part_of(const std::vector<size_t>& hosts, const auto& some) {
  return static_cast<double>(std::ranges::count_if(hosts, some)) /
         static_cast<double>(hosts.size());
}

/// Flows of Topology::workloads[index] that are open at a time if each lives for `lifetime` s.
/// `part`: of all of them, those that count.
size_t open_at_a_time(const config::Topology& t, size_t index, double lifetime, double part,
                      const Traces& traces) {
  const config::Workload& w = t.workloads[index];
  const double run = to_seconds(std::min(w.stop, t.run.duration) - w.start);
  double flows = part * arrivals_per_second(w) * std::min(lifetime, run);
  // Of few flows there are often more than the mean: six standard deviations are not exceeded.
  if (part < 1 || run < lifetime) flows += 6 * std::sqrt(flows) + 1;
  const auto trace = traces.of(index);
  if (trace != nullptr && std::holds_alternative<config::TraceArrivals>(w.arrivals))
    flows = std::max(flows, static_cast<double>(max_arrivals(*trace, from_seconds(lifetime))));
  return static_cast<size_t>(std::clamp(flows, 1.0, double{Sizing::kMaxFlows}));
}

/// The path of some flows, and the longest time of a packet on it and of its ACK on the way back.
struct Path {
  std::vector<config::Hop> hops;
  double stay = 0;    // s: round trip and full buffers
  double packet = 0;  // B
  bool bounded = false;
};

struct UnderWay {
  double packets = 0;
  std::optional<config::Hop> largest = {};  // the link that accounts for most of them
};

/// The paths between pairs of hosts, each once.
class PathSet {
 public:
  explicit PathSet(const config::Topology& t) : topology_(t), finder_(t) {}

  /// `traffic`: a config::Flow or config::Workload.
  void add(size_t from, size_t to, const auto& traffic) {
    const auto packet = std::max<int64_t>(traffic.packet.count(), 64);
    if (!known_.insert({from, to, traffic.ip_version, packet}).second) return;
    Path path{.hops = finder_.path(from, to, traffic.ip_version)};
    for (const config::Hop& hop : path.hops) {
      const config::Direction& d = at(hop);
      if (d.rate.count() > 0)
        path.stay += static_cast<double>(d.buffer.count()) / bytes_per_second(d.rate);
    }
    const auto back = finder_.path(to, from, traffic.ip_version);
    if (!path.hops.empty() && !back.empty()) {
      const Nanos round =
          config::propagation(topology_, path.hops) + config::propagation(topology_, back);
      path.stay += to_seconds(round);
    }
    path.packet = static_cast<double>(packet);
    paths_.push_back(std::move(path));
  }

  /// Upper bound of the packets under way on all paths. By Little's law they are at most the rate
  /// times the stay, and a link's rate bounds all paths across it together. Chooses links until
  /// each path has one, those with the fewest packets per path first.
  [[nodiscard]] UnderWay under_way() {
    UnderWay all;
    double most = 0;
    for (;;) {
      std::map<std::pair<size_t, size_t>, Share> links;
      for (const Path& path : paths_) {
        if (path.bounded) continue;
        for (const config::Hop& hop : path.hops) {
          if (at(hop).rate.count() <= 0) continue;
          Share& share = links[{hop.link, hop.direction}];
          const double packets = bytes_per_second(at(hop).rate) * path.stay / path.packet;
          share.packets = std::max(share.packets, packets);
          ++share.paths;
        }
      }
      const auto best = std::ranges::min_element(
          links, {}, [](const auto& l) { return l.second.packets / l.second.paths; });
      if (best == links.end()) return all;
      const double packets = best->second.packets;
      const config::Hop chosen{best->first.first, best->first.second};
      all.packets += packets;
      if (packets > most) {
        most = packets;
        all.largest = chosen;
      }
      for (Path& path : paths_)
        if (std::ranges::find(path.hops, chosen) != path.hops.end()) path.bounded = true;
    }
  }

 private:
  struct Share {
    double packets = 0;
    double paths = 0;
  };
  [[nodiscard]] const config::Direction& at(const config::Hop& hop) const {
    return topology_.links[hop.link].directions[hop.direction];
  }

  const config::Topology& topology_;
  config::PathFinder finder_;
  std::set<std::tuple<size_t, size_t, unsigned, int64_t>> known_;
  std::vector<Path> paths_;
};

/// Whether a workload has so many pairs of hosts that finding all their paths would take minutes.
bool has_many_pairs(const config::Workload& w) {
  return w.from.size() * w.to.size() >= config::AllPairs::kMinPairs;
}

/// Packets, of `size` B each, that all links hold: on their way and in full buffers.
double held_by_links(const config::Topology& t, double size) {
  double bytes = 0;
  for (const config::Link& link : t.links)
    for (const config::Direction& d : link.directions)
      bytes +=
          static_cast<double>(d.buffer.count()) + bytes_per_second(d.rate) * to_seconds(d.delay);
  return bytes / size;
}

/// Packets under way between the pairs of hosts that `counts` accepts.
UnderWay under_way(const config::Topology& t,
                   const std::function<bool(size_t from, size_t to)>& counts) {
  for (const config::Workload& w : t.workloads)
    if (has_many_pairs(w))
      return {.packets = held_by_links(t, static_cast<double>(std::max(w.packet, 64_B).count()))};
  PathSet paths(t);
  for (const config::Flow& f : t.flows)
    for (const size_t to : config::receivers_of(t, f))
      if (counts(f.from, to)) paths.add(f.from, to, f);
  for (const config::Workload& w : t.workloads)
    for (const size_t from : w.from)
      for (const size_t to : w.to)
        if (from != to && counts(from, to)) paths.add(from, to, w);
  return paths.under_way();
}

/// Number of a stream's packets that its path holds with full buffers.
double probes_under_way(const config::Topology& t, const config::Stream& s) {
  const config::Host& from = t.hosts[s.from];
  const ConstantRate cadence(s, t.links[from.link].directions[from.end]);
  const auto least = static_cast<double>(std::ranges::min(s.frames).count());
  double packets = 0;
  for (const auto& hop : config::path_between(t, s.from, s.to, s.ip_version)) {
    const config::Direction& d = t.links[hop.link].directions[hop.direction];
    packets += cadence.packets_per_second() * to_seconds(d.delay + d.jitter);
    packets += static_cast<double>(d.buffer.count()) / (least - config::kFrameBeyondDatagram);
  }
  return packets;
}

std::vector<bool> played_of(const config::Topology& t, std::span<const uint32_t> hosts) {
  std::vector<bool> played(t.hosts.size());
  for (const uint32_t h : hosts) played[h] = true;
  return played;
}

/// The mean size of a workload's flows, B.
double mean_size(const config::Topology& t, size_t index, const Traces& traces) {
  const config::SizeDistribution& size = t.workloads[index].size;
  if (const auto* s = std::get_if<config::FixedSize>(&size))
    return static_cast<double>(s->size.count());
  if (const auto* s = std::get_if<config::ParetoSize>(&size))
    return static_cast<double>(s->mean.count());
  if (const auto* s = std::get_if<config::ExponentialSize>(&size))
    return static_cast<double>(s->mean.count());
  const auto trace = traces.of(index);
  double sum = 0;
  if (trace == nullptr || trace->empty()) return sum;
  for (const auto& entry : *trace) sum += static_cast<double>(entry.bytes);
  return sum / static_cast<double>(trace->size());
}

struct FlowCount {
  size_t named = 0;     // by the file
  size_t arriving = 0;  // of workloads
  double packets = 0;   // of the latter, by their mean sizes
};

FlowCount flows_at_a_time(const config::Topology& t, const std::vector<bool>& played,
                          const Traces& traces) {
  FlowCount n;
  for (const config::Flow& f : t.flows)
    if (played[f.from]) n.named += f.count;
  for (size_t i = 0; i < t.workloads.size(); ++i) {
    const double part = part_of(t.workloads[i].from, [&](size_t h) { return played[h]; });
    if (part <= 0) continue;
    const size_t flows = open_at_a_time(t, i, Sizing::kLifetime, part, traces);
    const auto packet = static_cast<double>(std::max(t.workloads[i].packet, 64_B).count());
    n.arriving += flows;
    n.packets += static_cast<double>(flows) * (mean_size(t, i, traces) / packet + 2);
  }
  return n;
}

size_t clamped(const FlowCount& n) {
  return std::clamp(n.named + n.arriving, kMinFlows, Sizing::kMaxFlows);
}

}  // namespace

size_t flows_of(const config::Topology& t, std::span<const uint32_t> hosts, const Traces& traces) {
  return clamped(flows_at_a_time(t, played_of(t, hosts), traces));
}

Sizing size_of(const config::Topology& t, std::span<const uint32_t> hosts, const Traces& traces) {
  const std::vector<bool> played = played_of(t, hosts);
  const auto [named, arriving, arriving_packets] = flows_at_a_time(t, played, traces);
  Sizing s;
  double probes = 0;
  for (const config::Stream& stream : t.streams)
    if (played[stream.from]) probes += probes_under_way(t, stream);
  s.probes = static_cast<size_t>(std::min(probes, double{Sizing::kMaxProbes}));
  s.flows = clamped({named, arriving});

  const auto twice = [](double packets) {
    return static_cast<size_t>(std::min(2 * packets, double{Sizing::kMaxRecords}));
  };
  const UnderWay from_here = under_way(t, [&](size_t from, size_t) { return played[from]; });
  s.largest = from_here.largest;
  const size_t sent = twice(from_here.packets);
  s.records = std::clamp(kRecordsPerPacket * sent + Sizing::kRecordsPerFlow * s.flows, kMinRecords,
                         Sizing::kMaxRecords);
  const size_t packets = sent + Sizing::kRecordsPerFlow * std::max(named, kMinFlows) + 2 * arriving;
  s.packets = std::clamp(packets + s.probes, kMinRecords, Sizing::kMaxRecords);
  s.likely = s.packets;
  if (std::ranges::any_of(t.workloads, has_many_pairs))
    s.likely = std::min<size_t>(s.packets, Sizing::kRecordsPerFlow * named + s.probes +
                                               static_cast<size_t>(arriving_packets) + kMinRecords);
  // Packets under way to a host of this program occupy this program's mbufs, too.
  const auto to_here = [&](size_t from, size_t to) { return !played[from] && played[to]; };
  const size_t received = twice(under_way(t, to_here).packets);
  s.buffers = std::min(
      2 * std::max(packets, kMinRecords) + s.probes + received + kBuffersPerHost * hosts.size(),
      Sizing::kMaxBuffers);
  return s;
}

uint32_t sink_flows(const config::Topology& t, uint32_t host, const Traces& traces) {
  size_t flows = 0;
  for (const config::Flow& f : t.flows) {
    for (const size_t to : config::receivers_of(t, f))
      if (to == host) flows += f.count;
  }
  for (size_t i = 0; i < t.workloads.size(); ++i) {
    const double part = part_of(t.workloads[i].to, [&](size_t h) { return h == host; });
    if (part > 0) flows += open_at_a_time(t, i, 2 * Sizing::kLifetime, part, traces);
  }
  return static_cast<uint32_t>(std::clamp(flows + flows / 4, kMinFlows, Sizing::kMaxFlows));
}

}  // namespace turnpike::sender
