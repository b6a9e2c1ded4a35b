// SPDX-License-Identifier: BSD-3-Clause
// Paths of packets: the directed links between two hosts, found by following the routes.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/config/prefix_ranges.h"
#include "common/config/topology.h"
#include "common/parallel/threads.h"

namespace turnpike::config {

/// One link crossed, in one of its two directions: topology.links[link].directions[direction].
struct Hop {
  size_t link = 0;
  size_t direction = 0;
  bool operator==(const Hop&) const = default;
};

/// Finds many paths in one topology, which must outlive it and must not change. Reads all of a
/// router's routes for each of the first paths across it, then sorts them.
class PathFinder {
 public:
  explicit PathFinder(const Topology& topology);

  /// Sorts all routers' routes. From then on several threads may ask for paths of that version.
  void sort(unsigned ip_version, const Threads& threads);

  /// As path_between below.
  std::vector<Hop> path(size_t from_host, size_t to_host, unsigned ip_version);

  /// The link that a router sends a packet to a host by; std::nullopt without a route.
  std::optional<Hop> next_hop(size_t router, size_t to_host, unsigned ip_version);
  /// The router at the end of a hop; std::nullopt: a host is there.
  [[nodiscard]] std::optional<size_t> router_after(const Hop& hop) const;

 private:
  // The link of each address's longest match.
  template <class Prefix>
  struct Matches {
    std::optional<PrefixRanges<Prefix, size_t>> sorted;
    unsigned unsorted = 0;  // lookups so far
  };

  template <class Prefix>
  static void sort(Matches<Prefix>& matches, const std::vector<Route<Prefix>>& routes);
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
std::vector<Hop> hops_of(const Topology& topology, PathFinder& paths, const Flow& flow);
/// The same of one flow alone.
std::vector<Hop> hops_of(const Topology& topology, const Flow& flow);

/// Propagation delay of a path, one way.
Nanos propagation(const Topology& topology, const std::vector<Hop>& path);

/// Propagation delay there and back, without queueing and transmission; kNever without a path.
Nanos round_trip(const Topology& topology, PathFinder& paths, size_t from_host, size_t to_host,
                 unsigned ip_version = 4);
/// The same of one pair alone.
Nanos round_trip(const Topology& topology, size_t from_host, size_t to_host,
                 unsigned ip_version = 4);

}  // namespace turnpike::config
