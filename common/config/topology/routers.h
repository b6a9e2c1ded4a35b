// SPDX-License-Identifier: BSD-3-Clause
// Routers, with their routes, the enforcement at their edge and their control plane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/topology/addresses.h"
#include "common/units/units.h"

namespace turnpike::config {

/// Packets to `prefix` leave by `link`, to the interface at its other end.
template <class Prefix>
struct Route {
  Prefix prefix;
  size_t link = 0;
  uint8_t distance = 1;  // administrative: of several routes to a prefix the smallest serves
};

/// Room in a router's forwarding tables that a control plane changes.
struct FibSize {
  uint32_t ipv4 = 200'000, ipv6 = 50'000;  // prefixes
};

/// A router's enforcement of its customers' budgets.
struct Enforcement {
  std::vector<size_t> links;    // links whose packets are charged
  double tolerance = 0.005;     // spending beyond the budget that is accepted, as a share of it
  Nanos burst{0};               // of spending: budget of this time may be spent at once
  Nanos promise_burst{0};       // the same for promises of flows, and for their SYNs
  bool charge_unpriced = true;  // packets without a congestion header cost size x price
  Nanos unpriced_burst{0};      // the same as `burst`, for such packets
};

/// Classes of packets that go to Linux, each with a rate limit.
enum class PuntClass : uint8_t {
  kNeighbour,  // ARP and neighbour discovery
  kRouting,    // link-scope multicast of routing protocols, IS-IS
  kLocal,      // to the router's own addresses
  kTtl,        // with an expired TTL
  kOther,      // LLDP, groups that Linux has joined, limited broadcasts
};
inline constexpr size_t kPuntClasses = 5;
/// Names in files and reports, in the order of PuntClass.
inline constexpr std::array<std::string_view, kPuntClasses> kPuntClassNames{
    "neighbour", "routing", "local", "ttl", "other"};

/// Linux as a router's control plane: a TAP interface for each link.
struct LinuxControl {
  std::vector<std::string> interfaces;       // by link of the router
  std::array<double, kPuntClasses> rates{};  // packets/s of each class, per link and lcore
  bool punt_ttl = false;                     // Linux answers packets with an expired TTL
  bool file_addresses = true;                // the interfaces start with the file's addresses
  std::string network_namespace = {};        // of the interfaces; empty: the router's
};

struct Router {
  std::string name;
  std::vector<unsigned> lcores;                // CPUs; shaped links belong to the first by default
  std::vector<Route<Ipv4Prefix>> ipv4_routes;  // given and computed, longest match wins
  std::vector<Route<Ipv6Prefix>> ipv6_routes;
  std::vector<size_t> links;                    // links that end here
  size_t ipv4_by_hand = 0, ipv6_by_hand = 0;    // number of routes from the file, which come first
  std::string table = {};                       // file of more routes, empty: none
  size_t ipv4_in_table = 0, ipv6_in_table = 0;  // number of routes from it, which come next
  std::optional<Enforcement> enforcement = {};
  std::optional<FibSize> fib = {};                 // none: the routes of the file, for good
  std::optional<LinuxControl> linux_control = {};  // none: the router answers for itself
  bool rebalance = true;                           // moves flows from busy lcores to others
  // Of subnets of its links: other routers have a route to each of these instead of to the subnets.
  std::optional<Ipv4Prefix> ipv4_prefix = {};
  std::optional<Ipv6Prefix> ipv6_prefix = {};
  bool nic_filters = false;  // NICs drop packets with martian sources
};

}  // namespace turnpike::config
