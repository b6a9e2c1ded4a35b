// SPDX-License-Identifier: BSD-3-Clause
// Follows one packet from router to router through the routers' own tables.
#include "common/config/path.h"

#include <algorithm>
#include <cstdint>

#include "common/config/address.h"

namespace turnpike::config {
namespace {

constexpr size_t kNone = SIZE_MAX;  // no router, or no route

Ipv4 last_address(const Ipv4Prefix& p) {
  return p.address | (p.length == 0 ? ~Ipv4{0} : (Ipv4{1} << (32 - p.length)) - 1);
}
Ipv6 last_address(const Ipv6Prefix& p) {
  Ipv6 last = p.address;
  for (unsigned bit = p.length; bit < 128; ++bit)
    last[bit / 8] |= static_cast<uint8_t>(0x80U >> (bit % 8));
  return last;
}

// None after the last one.
std::optional<Ipv4> next_address(Ipv4 a) {
  return a == ~Ipv4{0} ? std::nullopt : std::optional(a + 1);
}
std::optional<Ipv6> next_address(Ipv6 a) {
  for (size_t i = a.size(); i-- > 0;)
    if (++a[i] != 0) return a;
  return {};
}

}  // namespace

template <class Prefix>
PathFinder::Matches<Prefix>::Matches(const std::vector<Route<Prefix>>& routes) {
  using Address = decltype(Prefix::address);
  std::vector<Route<Prefix>> sorted = routes;
  for (Route<Prefix>& route : sorted) route.prefix = network(route.prefix);
  // Of several routes to a prefix the first one serves.
  std::ranges::stable_sort(sorted, {}, [](const Route<Prefix>& r) {
    return std::pair(r.prefix.address, r.prefix.length);
  });
  std::vector<const Route<Prefix>*> around;  // prefixes that cover the current address, outer first
  const auto begin_range = [&](const Address& at, size_t link) {
    if (!begins_.empty() && begins_.back() == at) {
      links_.back() = link;
    } else {
      begins_.push_back(at);
      links_.push_back(link);
    }
  };
  begin_range(Address{}, kNone);
  const auto leave = [&] {
    const std::optional<Address> after = next_address(last_address(around.back()->prefix));
    around.pop_back();
    if (after) begin_range(*after, around.empty() ? kNone : around.back()->link);
  };
  for (const Route<Prefix>& route : sorted) {
    while (!around.empty() && !covers(around.back()->prefix, route.prefix)) leave();
    if (!around.empty() && around.back()->prefix.length == route.prefix.length) continue;
    begin_range(route.prefix.address, route.link);
    around.push_back(&route);
  }
  while (!around.empty()) leave();
}

template <class Prefix>
size_t PathFinder::Matches<Prefix>::find(const decltype(Prefix::address)& address) const {
  const auto after = std::ranges::upper_bound(begins_, address);
  return links_[static_cast<size_t>(after - begins_.begin()) - 1];
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
  if (ip_version == 6) {
    if (!ipv6_[router]) ipv6_[router] = std::make_unique<Matches<Ipv6Prefix>>(at.ipv6_routes);
    return ipv6_[router]->find(target.ipv6.address);
  }
  if (!ipv4_[router]) ipv4_[router] = std::make_unique<Matches<Ipv4Prefix>>(at.ipv4_routes);
  return ipv4_[router]->find(target.ipv4.address);
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
  if (flow.tree == kNoTree) return path_between(topology, flow.from, flow.to, flow.ip_version);
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

Nanos round_trip(const Topology& topology, size_t from_host, size_t to_host, unsigned ip_version) {
  const auto there = path_between(topology, from_host, to_host, ip_version);
  const auto back = path_between(topology, to_host, from_host, ip_version);
  if (there.empty() || back.empty()) return kNever;
  return propagation(topology, there) + propagation(topology, back);
}

}  // namespace turnpike::config
