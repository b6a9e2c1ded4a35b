// SPDX-License-Identifier: BSD-3-Clause
// A RouteSink that keeps routes and neighbours in maps: for comparisons, and for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "router/linux/route_value.h"

namespace turnpike::router {

/// Identifies a route of a RouteSink.
struct RouteKey {
  Prefix prefix;
  uint8_t distance = 0;
  uint32_t metric = 0;
};
struct RouteKeyHash {
  size_t operator()(const RouteKey& key) const {
    const size_t prefix = std::visit([](const auto& p) { return PrefixHash{}(p); }, key.prefix);
    return prefix ^ (uint64_t{key.metric} << 8 | key.distance) * size_t{0x9e3779b97f4a7c15};
  }
};
struct SameRouteKey {
  bool operator()(const RouteKey& a, const RouteKey& b) const {
    if (a.prefix.index() != b.prefix.index()) return false;
    if (a.distance != b.distance || a.metric != b.metric) return false;
    return std::visit(
        [&](const auto& p) {
          return SamePrefix{}(p, std::get<std::decay_t<decltype(p)>>(b.prefix));
        },
        a.prefix);
  }
};

struct NeighbourKey {
  size_t link = 0;
  Address address;
  bool operator==(const NeighbourKey&) const = default;
};
struct NeighbourKeyHash {
  size_t operator()(const NeighbourKey& key) const { return AddressHash{}(key.address) ^ key.link; }
};

class RouteMap final : public RouteSink {
 public:
  std::unordered_map<RouteKey, Route, RouteKeyHash, SameRouteKey> routes;
  std::unordered_map<NeighbourKey, config::Mac, NeighbourKeyHash> neighbours;
  uint64_t calls = 0, commits = 0;

  void set_route(const Prefix& prefix, Route route) override {
    ++calls;
    const RouteKey key{prefix, route.distance, route.metric};
    routes[key] = std::move(route);
  }
  void erase_route(const Prefix& prefix, uint8_t distance, uint32_t metric) override {
    ++calls;
    routes.erase(RouteKey{prefix, distance, metric});
  }
  void set_neighbour(size_t link, const Address& address, const config::Mac& mac) override {
    ++calls;
    neighbours[NeighbourKey{link, address}] = mac;
  }
  void erase_neighbour(size_t link, const Address& address) override {
    ++calls;
    neighbours.erase(NeighbourKey{link, address});
  }
  void commit() override { ++commits; }
};

}  // namespace turnpike::router
