// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search from each source, once.
#include "common/config/graph_paths.h"

#include <algorithm>
#include <set>

namespace turnpike::config {

GraphPaths::GraphPaths(const Topology& topology)
    : topology_(topology),
      is_searched_(topology.hosts.size(), false),
      from_(topology.hosts.size()) {
  for (size_t l = 0; l < topology.links.size(); ++l)
    for (size_t e = 0; e < 2; ++e) {
      const auto& ends = topology.links[l].ends;
      if (!ends[0].node.empty() && !ends[1].node.empty())
        departures_[ends[e].node].push_back({l, e});
    }
}

GraphPaths::Arrivals GraphPaths::search(std::string_view from) const {
  std::set<std::string_view> hosts;
  for (const Host& h : topology_.hosts) hosts.insert(h.name);
  Arrivals arrivals;
  std::vector<std::string_view> frontier{from};
  for (size_t next = 0; next < frontier.size(); ++next) {
    const std::string_view node = frontier[next];
    const auto departures = departures_.find(node);
    if (departures == departures_.end() || (node != from && hosts.contains(node))) continue;
    for (const Hop& hop : departures->second) {
      const std::string_view there = topology_.links[hop.link].ends[1 - hop.direction].node;
      if (there != from && arrivals.emplace(there, hop).second) frontier.push_back(there);
    }
  }
  return arrivals;
}

std::vector<Hop> GraphPaths::path(size_t from_host, size_t to_host) {
  const std::string_view from = topology_.hosts[from_host].name;
  if (!is_searched_[from_host]) {
    from_[from_host] = search(from);
    is_searched_[from_host] = true;
  }
  std::vector<Hop> path;
  for (std::string_view at = topology_.hosts[to_host].name; at != from;) {
    const auto arrival = from_[from_host].find(at);
    if (arrival == from_[from_host].end()) return {};
    path.push_back(arrival->second);
    at = topology_.links[arrival->second.link].ends[arrival->second.direction].node;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace turnpike::config
