// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/feasible_paths.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "common/config/address.h"

namespace turnpike::router {

namespace {

/// Links of all nodes that a packet to the router by `last` may have passed, `last` included.
std::set<size_t> links_behind(const config::Topology& t, const config::Router& router,
                              size_t last) {
  const config::Link& link = t.links[last];
  std::vector<std::string_view> nodes{link.ends[1 - link.end_at(router.name)].node};
  std::set<size_t> reached{last};
  for (size_t next = 0; next < nodes.size(); ++next) {
    const auto node = std::ranges::find(t.routers, nodes[next], &config::Router::name);
    if (node == t.routers.end()) continue;  // hosts do not forward
    for (const size_t l : node->links) {
      reached.insert(l);
      const std::string_view peer = t.links[l].ends[1 - t.links[l].end_at(node->name)].node;
      if (peer != router.name && std::ranges::find(nodes, peer) == nodes.end())
        nodes.push_back(peer);
    }
  }
  return reached;
}

template <class Prefix, class Subnets>
uint32_t find(const Subnets& subnets, const Prefix& prefix) {
  // The longest subnet first. A topology has few lengths of subnets.
  for (int length = prefix.length; length >= 0; --length) {
    const auto l = static_cast<uint8_t>(length);
    const auto found = subnets.find({l, config::network(Prefix{prefix.address, l}).address});
    if (found != subnets.end()) return found->second;
  }
  return 0;
}

}  // namespace

FeasiblePaths::FeasiblePaths(const config::Topology& t, size_t index) {
  const config::Router& router = t.routers[index];
  std::vector<std::vector<bool>> by_link(t.links.size(), std::vector<bool>(router.links.size()));
  sets_.emplace_back(router.links.size());
  for (size_t i = 0; i < router.links.size(); ++i)
    for (const size_t l : links_behind(t, router, router.links[i])) by_link[l][i] = true;
  std::map<std::vector<bool>, uint32_t> numbers{{sets_[0], 0}};
  for (size_t l = 0; l < t.links.size(); ++l) {
    const auto [at, fresh] = numbers.emplace(by_link[l], static_cast<uint32_t>(sets_.size()));
    if (fresh) sets_.push_back(by_link[l]);
    const config::Interface& end = t.links[l].ends[0];
    const config::Ipv4Prefix v4 = config::network(end.ipv4);
    const config::Ipv6Prefix v6 = config::network(end.ipv6);
    ipv4_[{v4.length, v4.address}] = at->second;
    ipv6_[{v6.length, v6.address}] = at->second;
  }
}

uint32_t FeasiblePaths::set_of(const config::Ipv4Prefix& prefix) const {
  return find(ipv4_, prefix);
}

uint32_t FeasiblePaths::set_of(const config::Ipv6Prefix& prefix) const {
  return find(ipv6_, prefix);
}

}  // namespace turnpike::router
