// SPDX-License-Identifier: BSD-3-Clause
// Paths of packets: the directed links between two hosts, found by following the routes.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/config/prefix_ranges.h"
#include "common/config/topology.h"

namespace turnpike::config {

/// One link crossed, in one of its two directions: topology.links[link].directions[direction].
struct Hop {
  size_t link = 0;
  size_t direction = 0;
  bool operator==(const Hop&) const = default;
};

/// Finds many paths in one topology, which must outlive it and must not change. Sorts a router's
/// routes once, when a path first crosses it.
class PathFinder {
 public:
  explicit PathFinder(const Topology& topology);

  /// As path_between below.
  std::vector<Hop> path(size_t from_host, size_t to_host, unsigned ip_version);

  /// The link that a router sends a packet to a host by; std::nullopt without a route.
  std::optional<Hop> next_hop(size_t router, size_t to_host, unsigned ip_version);
  /// The router at the end of a hop; std::nullopt: a host is there.
  [[nodiscard]] std::optional<size_t> router_after(const Hop& hop) const;

 private:
  // The link of each address's longest match; none: not asked yet.
  template <class Prefix>
  using Matches = std::optional<PrefixRanges<Prefix, size_t>>;

  template <class Prefix>
  static size_t find(Matches<Prefix>& matches, const std::vector<Route<Prefix>>& routes,
                     const decltype(Prefix::address)& address);
  size_t next_link(size_t router, size_t to_host, unsigned ip_version);

  const Topology& topology_;
  // By link and end: the router there.
  std::vector<std::array<size_t, 2>> router_at_;
  std::vector<Matches<Ipv4Prefix>> ipv4_;  // by router
  std::vector<Matches<Ipv6Prefix>> ipv6_;
};

/// The links that packets of `ip_version` cross from one host to another, in order. Looks up every
/// router's routes as the datapath does (longest match), including routes given in the file. Empty
/// if there is no path or the routes form a loop.
std::vector<Hop> path_between(const Topology& topology, size_t from_host, size_t to_host,
                              unsigned ip_version = 4);

/// The hosts that receive a flow.
std::vector<size_t> receivers_of(const Topology& topology, const Flow& flow);

/// The links that a flow's packets cross: to a host those of path_between(), to a tree all of the
/// tree's, each once.
std::vector<Hop> hops_of(const Topology& topology, const Flow& flow);

/// Propagation delay of a path, one way.
Nanos propagation(const Topology& topology, const std::vector<Hop>& path);

/// Propagation delay there and back, without queueing and transmission; kNever without a path.
Nanos round_trip(const Topology& topology, size_t from_host, size_t to_host,
                 unsigned ip_version = 4);

}  // namespace turnpike::config
