// SPDX-License-Identifier: BSD-3-Clause
// Paths between all hosts of two long lists, where each pair by itself would take too long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/config/path.h"

namespace turnpike::config {

/// Computes, for every router, the rest of its path to every place: a router with hosts that all
/// routers reach in the same way. Takes time and memory for places times routers, not for pairs of
/// hosts. The topology and the threads must outlive it, and the topology must not change.
class AllPairs {
 public:
  /// Hosts that are attached to routers, without doubles.
  AllPairs(const Topology& topology, const std::vector<size_t>& hosts, unsigned ip_version,
           const Threads& threads);

  struct Pair {
    size_t from = 0, to = 0;  // hosts
  };
  struct Found {
    uint16_t mtu = UINT16_MAX;      // least on all paths, B
    std::vector<Pair> unreachable;  // the first pair without a path there and back, of each place
  };
  /// Of the paths from each host of `from` to each other one of `to`, all of which the constructor
  /// got. Raises `round_trips`, by link and direction, to the longest round trip across.
  [[nodiscard]] Found examine(const std::vector<size_t>& from, const std::vector<size_t>& to,
                              std::vector<std::array<Nanos, 2>>& round_trips);

  /// Pairs of hosts from which on these computations are the faster ones.
  static constexpr size_t kMinPairs = 200'000;

 private:
  // The rest of the path from a router to a place.
  struct Rest {
    Nanos delay = kNever;  // kNever: there is no path
    uint16_t mtu = UINT16_MAX;
  };
  // Hosts of a list at one place, and the two longest delays, there and back, of their own links.
  struct Group {
    std::vector<size_t> hosts;
    Nanos longest = kNone, second = kNone;
    size_t farthest = 0;  // host of `longest`
  };
  static constexpr Nanos kNone{-1};  // less than any delay: there is no such host or path

  [[nodiscard]] Rest& rest(size_t place, size_t router) {
    return rests_[place * topology_.routers.size() + router];
  }
  // The next hops of routers to a place; they form a tree.
  struct Tree {
    std::vector<size_t> routers;           // after those that their paths cross
    std::vector<std::optional<Hop>> hops;  // by router; none: the place, or there is no path
    bool arrives = false;                  // the place's router has a route to its hosts
  };
  using RoundTrips = std::vector<std::array<Nanos, 2>>;

  [[nodiscard]] Nanos own_delay(size_t host) const;
  [[nodiscard]] Tree tree_to(size_t place);
  void find_rests(size_t place);
  [[nodiscard]] std::vector<Group> groups_of(const std::vector<size_t>& hosts) const;
  [[nodiscard]] Nanos between(size_t place, size_t other);
  [[nodiscard]] static Nanos longest(const Group& from, const Group& to, bool same_place);
  void raise_between(const Tree& tree, const std::vector<Group>& from, size_t place,
                     const Group& to, RoundTrips& round_trips);
  void raise_between(const std::vector<Group>& some, const std::vector<Group>& others,
                     RoundTrips& round_trips);
  void raise_own(const std::vector<Group>& from, const std::vector<Group>& to,
                 RoundTrips& round_trips);

  const Topology& topology_;
  const Threads& threads_;
  PathFinder paths_;
  unsigned ip_version_;
  std::vector<size_t> place_of_;   // by host
  std::vector<size_t> host_at_;    // by place: one of its hosts
  std::vector<size_t> router_at_;  // by place
  std::vector<Rest> rests_;        // by place and router
};

}  // namespace turnpike::config
