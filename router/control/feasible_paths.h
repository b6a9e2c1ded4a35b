// SPDX-License-Identifier: BSD-3-Clause
// The links over which packets from a subnet may arrive at a router, by any path of the topology.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::router {

/// Feasible paths in the sense of RFC 8704: from a subnet's link to the router over any routers but
/// itself, not only the one that the routing table uses. Sets of links have numbers; 0 is empty.
class FeasiblePaths {
 public:
  /// For topology.routers[router]. Keeps no reference.
  FeasiblePaths(const config::Topology& topology, size_t router);

  /// The set of links by which sources in the prefix, a subnet or a part of one, may arrive.
  [[nodiscard]] uint32_t set_of(const config::Ipv4Prefix& prefix) const;
  [[nodiscard]] uint32_t set_of(const config::Ipv6Prefix& prefix) const;

  /// By number of the set: by index among the router's links whether it is in the set.
  [[nodiscard]] const std::vector<std::vector<bool>>& sets() const { return sets_; }

 private:
  template <class Prefix>
  using Subnets = std::map<std::pair<uint8_t, decltype(Prefix::address)>, uint32_t>;

  Subnets<config::Ipv4Prefix> ipv4_;
  Subnets<config::Ipv6Prefix> ipv6_;
  std::vector<std::vector<bool>> sets_;
};

}  // namespace turnpike::router
