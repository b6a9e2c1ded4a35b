// SPDX-License-Identifier: BSD-3-Clause
// The interface by which a control plane tells the forwarding tables its routes, neighbours and
// addresses, as they change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::router {

using Prefix = std::variant<config::Ipv4Prefix, config::Ipv6Prefix>;
using Address = std::variant<config::Ipv4, config::Ipv6>;

/// One path of a route.
struct Path {
  size_t link = 0;  // index among the router's links
  /// The neighbour that takes the packets, which may be of the other family (RFC 8950); none: each
  /// destination is a neighbour on the link itself.
  std::variant<std::monostate, config::Ipv4, config::Ipv6> gateway = {};
  uint16_t weight = 1;  // > 0: its share of flows, relative to the route's other paths

  bool operator==(const Path&) const = default;
};

/// A route to a prefix. Of several routes to one prefix the one of the smallest distance serves,
/// then the one of the smallest metric.
struct Route {
  enum class Action : uint8_t {
    kForward,      // by one of the paths
    kLocal,        // an address of the router
    kBroadcast,    // a broadcast address of one of its subnets
    kBlackhole,    // drop silently
    kUnreachable,  // drop, and answer with an ICMP destination unreachable
    kProhibit,     // drop, and answer that communication is prohibited
  };
  Action action = Action::kForward;
  uint8_t distance = 0;  // administrative distance: 0 connected, 1 static, 20 eBGP, 110 OSPF
  uint32_t metric = 0;
  std::vector<Path> paths = {};  // kForward: at least one
};

/// Called by one thread, never by an lcore. Changes take effect at commit(), all of them together;
/// those made before are collected. A route is known by its prefix, distance and metric.
class RouteSink {
 public:
  virtual ~RouteSink() = default;

  /// Adds a route, or replaces that of the same prefix, distance and metric.
  virtual void set_route(const Prefix& prefix, Route route) = 0;
  /// Removes a route; does nothing if there is none.
  virtual void erase_route(const Prefix& prefix, uint8_t distance, uint32_t metric) = 0;

  /// Adds a neighbour on a link, or changes its MAC address.
  virtual void set_neighbour(size_t link, const Address& address, const config::Mac& mac) = 0;
  /// Removes a neighbour: packets for it wait until it is resolved again.
  virtual void erase_neighbour(size_t link, const Address& address) = 0;

  /// Lets everything since the last commit take effect, once no lookup uses the former state.
  virtual void commit() = 0;
};

}  // namespace turnpike::router
