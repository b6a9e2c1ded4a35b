// SPDX-License-Identifier: BSD-3-Clause
// Follows one packet from router to router through the routers' own tables.
#include "common/config/path.h"

#include <cstdint>
#include <utility>

#include "common/config/address.h"

namespace turnpike::config {
namespace {

constexpr size_t kNone = SIZE_MAX;  // no router, or no route
constexpr unsigned kUnsorted = 16;  // lookups that take less time than to sort the routes

// Of several routes to a prefix the first serves.
template <class Prefix>
size_t longest_match(const std::vector<Route<Prefix>>& routes,
                     const decltype(Prefix::address)& address) {
  const Route<Prefix>* best = nullptr;
  for (const auto& route : routes)
    if ((best == nullptr || route.prefix.length > best->prefix.length) &&
        contains(route.prefix, address))
      best = &route;
  return best == nullptr ? kNone : best->link;
}

}  // namespace

template <class Prefix>
void PathFinder::sort(Matches<Prefix>& matches, const std::vector<Route<Prefix>>& routes) {
  std::vector<std::pair<Prefix, size_t>> links;
  links.reserve(routes.size());
  for (const auto& route : routes) links.emplace_back(route.prefix, route.link);
  matches.sorted.emplace(std::move(links), kNone);
}

template <class Prefix>
size_t PathFinder::find(Matches<Prefix>& matches, const std::vector<Route<Prefix>>& routes,
                        const decltype(Prefix::address)& address) {
  if (!matches.sorted) {
    if (++matches.unsorted <= kUnsorted) return longest_match(routes, address);
    sort(matches, routes);
  }
  return matches.sorted->find(address);
}

void PathFinder::sort(unsigned ip_version, const Threads& threads) {
  threads.for_each(topology_.routers.size(), [&](size_t r) {
    const Router& router = topology_.routers[r];
    if (ip_version == 6)
      sort(ipv6_[r], router.ipv6_routes);
    else
      sort(ipv4_[r], router.ipv4_routes);
  });
}

PathFinder::PathFinder(const Topology& topology)
    : topology_(topology),
      router_at_(topology.links.size(), {kNone, kNone}),
      ipv4_(topology.routers.size()),
      ipv6_(topology.routers.size()) {
  for (size_t r = 0; r < topology.routers.size(); ++r)
    for (const size_t link : topology.routers[r].links)
      router_at_[link][topology.links[link].ends[0].node == topology.routers[r].name ? 0 : 1] = r;
}

size_t PathFinder::next_link(size_t router, size_t to_host, unsigned ip_version) {
  const Interface& target = topology_.interface_of(topology_.hosts[to_host]);
  const Router& at = topology_.routers[router];
  return ip_version == 6 ? find(ipv6_[router], at.ipv6_routes, target.ipv6.address)
                         : find(ipv4_[router], at.ipv4_routes, target.ipv4.address);
}

std::optional<Hop> PathFinder::next_hop(size_t router, size_t to_host, unsigned ip_version) {
  const size_t out = next_link(router, to_host, ip_version);
  if (out == kNone) return {};
  return Hop{out, router_at_[out][0] == router ? size_t{0} : size_t{1}};
}

std::optional<size_t> PathFinder::router_after(const Hop& hop) const {
  const size_t router = router_at_[hop.link][1 - hop.direction];
  return router == kNone ? std::nullopt : std::optional(router);
}

std::vector<Hop> PathFinder::path(size_t from_host, size_t to_host, unsigned ip_version) {
  if (from_host == to_host) return {};
  const Host& from = topology_.hosts[from_host];
  const Host& to = topology_.hosts[to_host];
  std::vector<Hop> path;
  Hop hop{from.link, from.end};
  // A path longer than the number of directed links is a loop.
  while (path.size() < 2 * topology_.links.size()) {
    path.push_back(hop);
    const size_t far = 1 - hop.direction;
    if (hop.link == to.link && far == to.end) return path;
    const auto router = router_after(hop);
    if (!router) return {};  // another host: hosts do not forward
    const auto next = next_hop(*router, to_host, ip_version);
    if (!next) return {};
    hop = *next;
  }
  return {};
}

std::vector<Hop> path_between(const Topology& topology, size_t from_host, size_t to_host,
                              unsigned ip_version) {
  return PathFinder(topology).path(from_host, to_host, ip_version);
}

std::vector<size_t> receivers_of(const Topology& topology, const Flow& flow) {
  if (flow.tree == kNoTree) return {flow.to};
  return topology.trees[flow.tree].receivers;
}

std::vector<Hop> hops_of(const Topology& topology, const Flow& flow) {
  PathFinder paths(topology);
  return hops_of(topology, paths, flow);
}

std::vector<Hop> hops_of(const Topology& topology, PathFinder& paths, const Flow& flow) {
  if (flow.tree == kNoTree) return paths.path(flow.from, flow.to, flow.ip_version);
  const Tree& tree = topology.trees[flow.tree];
  const Host& root = topology.hosts[tree.root];
  std::vector<Hop> hops{{root.link, root.end}};
  for (const Branch& branch : tree.branches)
    for (const size_t link : branch.children)
      hops.push_back({link, topology.links[link].end_at(topology.routers[branch.router].name)});
  return hops;
}

Nanos propagation(const Topology& topology, const std::vector<Hop>& path) {
  Nanos sum{0};
  for (const Hop& hop : path) sum += topology.links[hop.link].directions[hop.direction].delay;
  return sum;
}

Nanos round_trip(const Topology& topology, PathFinder& paths, size_t from_host, size_t to_host,
                 unsigned ip_version) {
  const auto there = paths.path(from_host, to_host, ip_version);
  const auto back = paths.path(to_host, from_host, ip_version);
  if (there.empty() || back.empty()) return kNever;
  return propagation(topology, there) + propagation(topology, back);
}

Nanos round_trip(const Topology& topology, size_t from_host, size_t to_host, unsigned ip_version) {
  PathFinder paths(topology);
  return round_trip(topology, paths, from_host, to_host, ip_version);
}

}  // namespace turnpike::config
