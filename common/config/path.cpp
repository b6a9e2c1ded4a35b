// SPDX-License-Identifier: BSD-3-Clause
// Follows one packet from router to router through the tables the routers will really use.
#include "common/config/path.h"

#include <optional>

#include "common/config/address.h"

namespace turnpike::config {
namespace {

template <class Routes, class Address>
std::optional<size_t> longest_match(const Routes& routes, const Address& to) {
  const typename Routes::value_type* best = nullptr;
  for (const auto& route : routes)
    if (contains(route.prefix, to) && (!best || route.prefix.length > best->prefix.length))
      best = &route;
  if (!best) return {};
  return best->link;
}

}  // namespace

std::vector<Hop> path_between(const Topology& topology, size_t from_host, size_t to_host,
                              unsigned ip_version) {
  if (from_host == to_host) return {};
  const Host& from = topology.hosts[from_host];
  const Host& to = topology.hosts[to_host];
  const Interface& target = topology.interface_of(to);
  std::vector<Hop> path;
  Hop hop{from.link, from.end};
  // A way that visits more links than there are goes round in a circle.
  while (path.size() < 2 * topology.links.size()) {
    path.push_back(hop);
    const std::string& node = topology.links[hop.link].ends[1 - hop.direction].node;
    if (hop.link == to.link && 1 - hop.direction == to.end) return path;
    const Router* at = nullptr;
    for (const Router& r : topology.routers)
      if (r.name == node) at = &r;
    if (!at) return {};  // another host: hosts do not forward
    const auto out = ip_version == 6 ? longest_match(at->ipv6_routes, target.ipv6.address)
                                     : longest_match(at->ipv4_routes, target.ipv4.address);
    if (!out) return {};
    hop = {*out, topology.links[*out].ends[0].node == node ? size_t{0} : size_t{1}};
  }
  return {};
}

Nanos propagation(const Topology& topology, const std::vector<Hop>& path) {
  Nanos sum{0};
  for (const Hop& hop : path) sum += topology.links[hop.link].directions[hop.direction].delay;
  return sum;
}

Nanos round_trip(const Topology& topology, size_t from_host, size_t to_host, unsigned ip_version) {
  const auto there = path_between(topology, from_host, to_host, ip_version);
  const auto back = path_between(topology, to_host, from_host, ip_version);
  if (there.empty() || back.empty()) return kNever;
  return propagation(topology, there) + propagation(topology, back);
}

}  // namespace turnpike::config
