// SPDX-License-Identifier: BSD-3-Clause
// Routes of a gateway to its peers, and to the destinations behind them.
#include <algorithm>
#include <variant>

#include "common/config/address.h"
#include "common/config/draft.h"

namespace turnpike::config {
namespace {

/// The route of the longest match; null: none.
template <class Prefix>
const Route<Prefix>* route_to(const std::vector<Route<Prefix>>& routes,
                              const decltype(Prefix::address)& address) {
  const Route<Prefix>* best = nullptr;
  for (const Route<Prefix>& route : routes)
    if ((best == nullptr || route.prefix.length > best->prefix.length) &&
        contains(route.prefix, address))
      best = &route;
  return best;
}

/// Whether a route leads to addresses of a prefix.
template <class Prefix>
bool reaches(const std::vector<Route<Prefix>>& routes, const Prefix& prefix) {
  return std::ranges::any_of(routes, [&](const Route<Prefix>& route) {
    return contains(route.prefix, prefix.address) || contains(prefix, route.prefix.address);
  });
}

}  // namespace

void check_peer_routes(Draft& d, const Gateway& g, const GatewayPeer& peer,
                       const Named<GatewayPeerSpec>& named) {
  const Router& router = d.topology.routers[g.router];
  // A control plane adds routes later.
  if (!d.tables_right || router.fib || router.linux_control) return;
  const GatewayPeerSpec& spec = named.value;
  const std::string path = "gateways." + router.name + ".peers." + named.name;
  const auto check_address = [&](const auto& routes, const auto& address, const std::string& text) {
    const Position place = spec.address.given ? spec.address.at : named.at;
    const auto* const route = route_to(routes, address);
    if (route == nullptr) {
      d.mistakes.add(place, path + ".address",
                     "'" + router.name + "' has no route to " + text +
                         ": give it one, by a core link (`routers." + router.name + ".routes`)");
    } else if (!g.core.empty() && std::ranges::count(g.core, route->link) == 0) {
      d.mistakes.add(place, path + ".address",
                     "the route to " + text + " is link '" + d.topology.links[route->link].name +
                         "', which is no core link");
    }
  };
  if (const auto* v4 = std::get_if<Ipv4>(&peer.address)) {
    check_address(router.ipv4_routes, *v4, ipv4_text(*v4));
  } else {
    const auto& v6 = std::get<Ipv6>(peer.address);
    check_address(router.ipv6_routes, v6, ipv6_text(v6));
  }
  const auto check_prefix = [&](const auto& routes, const auto& prefix, Position place) {
    if (!reaches(routes, prefix))
      d.mistakes.add(place, path + ".prefix",
                     "'" + router.name + "' has no route to " + prefix_text(prefix) +
                         ", and drops packets for it before they reach the tunnel");
  };
  const auto& items = spec.prefix.value.items;
  for (const auto& item : items) {
    if (item.wrong || spec.prefix.wrong) continue;
    const Position place = items.size() > 1 ? item.at : spec.prefix.at;
    if (const auto* v4 = std::get_if<Ipv4Prefix>(&item.value.prefix)) {
      check_prefix(router.ipv4_routes, network(*v4), place);
    } else {
      check_prefix(router.ipv6_routes, network(std::get<Ipv6Prefix>(item.value.prefix)), place);
    }
  }
}

}  // namespace turnpike::config
