// SPDX-License-Identifier: BSD-3-Clause
#include "lab/simulator/cut.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/config/path.h"
#include "common/report/number.h"
#include "common/units/text.h"

namespace turnpike::lab {
namespace {

constexpr uint32_t kNoNode = UINT32_MAX;
// A host does about three times the work of a router for a packet: it makes and acknowledges it.
constexpr double kHostWork = 3;
// Shortest lookahead that is tried next, as a share of the last one: there may be a delay per link.
constexpr double kStep = 0.8;
// A shorter lookahead, or one more part, is taken if it promises to be as much faster.
constexpr double kFaster = 1.2, kFasterEach = 1.05;
constexpr size_t kMaxPaths = 20'000, kMaxPathsEach = 4;  // of workloads; for each of their sources

/// Nodes are routers, then hosts; edges are links between two nodes that are simulated.
struct Graph {
  struct Edge {
    uint32_t a = 0, b = 0;
    size_t link = 0;
    Nanos delay{0};
    double rate = 0;  // B/s
  };
  std::vector<double> work;  // by node, a share of all
  std::vector<Edge> edges;
};

struct Demand {
  size_t from = 0, to = 0;
  std::vector<config::Hop> path;
  double rate = 0;  // B/s
};

/// Paths of the traffic. Of workloads with many pairs of hosts, some.
std::vector<Demand> demands_of(const config::Topology& t) {
  std::vector<Demand> all;
  config::PathFinder paths(t);
  const auto add = [&](size_t from, size_t to, unsigned ip_version) {
    if (from == to) return;
    all.push_back({.from = from, .to = to, .path = paths.path(from, to, ip_version)});
  };
  for (const config::Flow& f : t.flows)
    for (const size_t to : config::receivers_of(t, f)) add(f.from, to, f.ip_version);
  for (const config::Stream& s : t.streams) add(s.from, s.to, s.ip_version);
  for (const config::Workload& w : t.workloads)
    for (size_t i = 0; i < w.from.size() && all.size() < kMaxPaths; ++i)
      for (size_t j = 0; j < std::min(w.to.size(), kMaxPathsEach); ++j)
        add(w.from[i], w.to[(i + j * w.to.size() / kMaxPathsEach) % w.to.size()], w.ip_version);
  return all;
}

/// The most that each can send if all do: its part of the link on its path that is shared most.
void set_rates(const config::Topology& t, std::vector<Demand>& demands) {
  const auto directed = [](const config::Hop& hop) { return 2 * hop.link + hop.direction; };
  std::vector<double> users(2 * t.links.size());
  for (const Demand& d : demands)
    for (const config::Hop& hop : d.path) ++users[directed(hop)];
  for (Demand& d : demands)
    for (const config::Hop& hop : d.path) {
      const double part =
          bytes_per_second(t.links[hop.link].directions[hop.direction].rate) / users[directed(hop)];
      d.rate = d.rate == 0 ? part : std::min(d.rate, part);
    }
}

Graph graph_of(const config::Topology& t) {
  Graph g;
  std::unordered_map<std::string_view, uint32_t> numbers;
  for (const config::Router& router : t.routers)
    numbers.emplace(router.name, static_cast<uint32_t>(numbers.size()));
  for (const config::Host& host : t.hosts)
    numbers.emplace(host.name, static_cast<uint32_t>(numbers.size()));
  const auto number = [&](const std::string& name) {
    const uint32_t n = numbers.at(name);
    const bool host = n >= t.routers.size();
    return host && t.hosts[n - t.routers.size()].external ? kNoNode : n;
  };
  for (size_t l = 0; l < t.links.size(); ++l) {
    const config::Link& link = t.links[l];
    const uint32_t a = number(link.ends[0].node), b = number(link.ends[1].node);
    if (a == kNoNode || b == kNoNode) continue;
    g.edges.push_back({.a = a,
                       .b = b,
                       .link = l,
                       .delay = std::min(link.directions[0].delay, link.directions[1].delay),
                       .rate = bytes_per_second(link.directions[0].rate) +
                               bytes_per_second(link.directions[1].rate)});
  }
  std::vector<Demand> demands = demands_of(t);
  set_rates(t, demands);
  g.work.resize(numbers.size());
  const auto host_work = [&](size_t host) -> double& { return g.work[t.routers.size() + host]; };
  for (const Demand& d : demands) {
    host_work(d.from) += kHostWork * d.rate;
    host_work(d.to) += kHostWork * d.rate;
    for (size_t i = 1; i < d.path.size(); ++i)
      g.work[numbers.at(t.links[d.path[i].link].ends[d.path[i].direction].node)] += d.rate;
  }
  const double all = std::accumulate(g.work.begin(), g.work.end(), 0.0);
  for (double& w : g.work) w = all > 0 ? w / all : 1.0 / static_cast<double>(g.work.size());
  return g;
}

/// The cluster of each node: nodes that links of a delay below `least` join, directly or by others.
/// Clusters are numbered in the order of their first nodes.
std::vector<uint32_t> clusters_of(const Graph& g, Nanos least) {
  std::vector<uint32_t> parent(g.work.size());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](uint32_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
  };
  for (const Graph::Edge& e : g.edges)
    if (e.delay < least) {
      const auto [first, second] = std::minmax({root(e.a), root(e.b)});
      parent[second] = first;
    }
  std::vector<uint32_t> cluster(g.work.size());
  uint32_t count = 0;
  for (uint32_t n = 0; n < cluster.size(); ++n) {
    const uint32_t r = root(n);
    cluster[n] = r == n ? count++ : cluster[r];
  }
  return cluster;
}

/// The part of each node: parts grow one after the other, each by the cluster that leaves the least
/// capacity to the rest (greedy graph growing, Karypis and Kumar, SIAM J. Sci. Comput. 20(1),
/// 1998).
std::vector<uint32_t> grow_parts(const Graph& g, const std::vector<uint32_t>& cluster,
                                 uint32_t parts) {
  const uint32_t clusters = *std::ranges::max_element(cluster) + 1;
  std::vector<double> work(clusters);
  for (size_t n = 0; n < cluster.size(); ++n) work[cluster[n]] += g.work[n];
  std::vector<std::vector<std::pair<uint32_t, double>>> near(clusters);
  std::vector<double> degree(clusters);
  for (const Graph::Edge& e : g.edges) {
    const uint32_t a = cluster[e.a], b = cluster[e.b];
    if (a == b) continue;
    near[a].emplace_back(b, e.rate);
    near[b].emplace_back(a, e.rate);
    degree[a] += e.rate;
    degree[b] += e.rate;
  }
  constexpr uint32_t kFree = UINT32_MAX;
  std::vector<uint32_t> part(clusters, kFree);
  double left = 1;
  uint32_t first_free = 0, free = clusters;
  for (uint32_t p = 0; p < parts; ++p) {
    const double share = left / (parts - p);
    const uint32_t others = parts - p - 1;  // grow later, each from one cluster at least
    double taken = 0;
    std::vector<double> adds = degree;             // to the capacity to the rest, by cluster
    std::set<std::pair<double, uint32_t>> border;  // by that, then number
    const auto take = [&](uint32_t c) {
      part[c] = p;
      taken += work[c];
      --free;
      for (const auto& [other, rate] : near[c]) {
        if (part[other] != kFree) continue;
        border.erase({adds[other], other});
        adds[other] -= 2 * rate;
        border.insert({adds[other], other});
      }
    };
    while (free > others) {
      while (part[first_free] != kFree) ++first_free;
      const uint32_t next = border.empty() ? first_free : border.begin()->second;
      // The last part takes all that is left, any other one some work if there is any.
      if (others > 0 && taken > 0 && taken + work[next] / 2 > share) break;
      border.erase({adds[next], next});
      take(next);
    }
    left -= taken;
  }
  std::vector<uint32_t> of_node(cluster.size());
  for (size_t n = 0; n < cluster.size(); ++n) of_node[n] = part[cluster[n]];
  return of_node;
}

std::vector<double> weights_of(const Graph& g, const std::vector<uint32_t>& part, uint32_t parts) {
  std::vector<double> weights(parts);
  for (size_t n = 0; n < part.size(); ++n) weights[part[n]] += g.work[n];
  return weights;
}

Cut make_cut(const config::Topology& t, const Graph& g, const std::vector<uint32_t>& part,
             uint32_t parts) {
  Cut c;
  c.parts = parts;
  c.weights = weights_of(g, part, parts);
  const auto hosts = part.begin() + static_cast<ptrdiff_t>(t.routers.size());
  c.router_parts.assign(part.begin(), hosts);
  c.host_parts.assign(hosts, part.end());
  for (const Graph::Edge& e : g.edges) {
    if (part[e.a] == part[e.b]) continue;
    c.links.push_back(e.link);
    c.lookahead = std::min(c.lookahead, e.delay);
  }
  return c;
}

/// Parts of `cluster` that promise the greatest speed, of as few parts as come near it.
Cut best_cut(const config::Topology& t, const Graph& g, const std::vector<uint32_t>& cluster,
             uint32_t wanted) {
  const uint32_t clusters = *std::ranges::max_element(cluster) + 1;
  Cut best = make_cut(t, g, std::vector<uint32_t>(g.work.size()), 1);
  for (uint32_t parts = 2; parts <= std::min(wanted, clusters); ++parts) {
    Cut found = make_cut(t, g, grow_parts(g, cluster, parts), parts);
    if (found.speed_up() >= kFasterEach * best.speed_up()) best = std::move(found);
  }
  return best;
}

}  // namespace

bool Cut::crosses(size_t link) const { return std::ranges::binary_search(links, link); }

double Cut::speed_up() const { return 1 / *std::ranges::max_element(weights); }

Cut cut(const config::Topology& t, uint32_t wanted) {
  const Graph g = graph_of(t);
  std::set<Nanos, std::greater<>> delays;
  for (const Graph::Edge& e : g.edges)
    if (e.delay > Nanos(0)) delays.insert(e.delay);
  Cut best = make_cut(t, g, std::vector<uint32_t>(g.work.size()), 1);
  if (wanted < 2 || g.work.empty()) return best;
  for (auto least = delays.begin(); least != delays.end();) {
    Cut found = best_cut(t, g, clusters_of(g, *least), wanted);
    if (found.speed_up() >= kFaster * best.speed_up()) best = std::move(found);
    // The smallest delay is tried in any case.
    const auto next = delays.lower_bound(from_seconds(kStep * to_seconds(*least)));
    least = next == delays.end() && std::next(least) != delays.end() ? std::prev(next) : next;
  }
  if (best.parts < wanted)
    best.why = delays.empty() ? "no link has a delay"
                              : "more would be little faster, since much of the work is at few "
                                "nodes, or at nodes that links without delay join";
  return best;
}

std::string cut_text(const config::Topology& t, const Cut& c) {
  if (c.parts == 1) return "one part: " + (c.why.empty() ? "one thread is wanted" : c.why);
  std::string text = std::to_string(c.parts) + " parts, at most " + report::fixed(c.speed_up(), 2) +
                     " times as fast as one";
  if (!c.why.empty()) text += " (not more: " + c.why + ")";
  for (uint32_t p = 0; p < c.parts; ++p)
    text += "\n  part " + std::to_string(p) + ": " +
            std::to_string(std::ranges::count(c.router_parts, p)) + " routers, " +
            std::to_string(std::ranges::count(c.host_parts, p)) + " hosts, " +
            report::fixed(100 * c.weights[p], 0) + " % of the expected work";
  double all = 0, crossing = 0;
  for (size_t l = 0; l < t.links.size(); ++l) {
    const double rate = bytes_per_second(t.links[l].directions[0].rate);
    all += rate;
    if (c.crosses(l)) crossing += rate;
  }
  return text + "\n  " + std::to_string(c.links.size()) + " of " + std::to_string(t.links.size()) +
         " links lead from one part to another, " + report::fixed(100 * crossing / all, 0) +
         " % of the capacity\n  lookahead " + to_text(c.lookahead) +
         ", the least delay of these links: parts wait for each other once in that time";
}

}  // namespace turnpike::lab
