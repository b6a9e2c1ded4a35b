// SPDX-License-Identifier: BSD-3-Clause
// The routes of a topology file, for tables that a control plane changes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/control/route_table.h"
#include "router/control/tables.h"

namespace turnpike::router {

/// The source of a router's own addresses, its subnets and its neighbours.
enum class Addresses : uint8_t {
  kFromFile,          // the topology file
  kFromControlPlane,  // a control plane, which learns most routes as well
};

/// A table for topology.routers[router], whose `fib` must be given, with the file's routes. With
/// kFromControlPlane these are only the routes given by hand or in `table`, by the addresses of
/// their neighbours; the shortest paths to other subnets are left to the control plane. `tables`:
/// for the groups of trees. The error: no memory, or less room than the file has routes.
tl::expected<std::unique_ptr<RouteTable>, std::string> make_route_table(
    const config::Topology& topology, size_t router, const Tables& tables, Addresses addresses,
    unsigned workers, int socket);

/// The routes of a changed file that differ from those of the running one.
struct FileRouteChanges {
  std::vector<std::pair<Prefix, uint8_t>> gone;  // with their distances
  std::vector<std::pair<Prefix, Route>> set;

  /// Makes and commits the changes.
  void apply(RouteSink& table) const;
};
/// Between running.routers[before] and wanted.routers[after], which have the same links in the same
/// order. `table`: made by make_route_table() with the same `addresses`.
FileRouteChanges file_route_changes(const config::Topology& running, size_t before,
                                    const config::Topology& wanted, size_t after,
                                    Addresses addresses, RouteTable& table);

/// B that such a table takes; 0: the router has none.
struct RouteTableMemory {
  size_t dpdk = 0;    // of the memory that EAL reserves: both copies of IPv6
  size_t beside = 0;  // both copies of IPv4, and the index that finds what a change overwrites

  [[nodiscard]] size_t all() const { return dpdk + beside; }
};
RouteTableMemory route_table_memory(const config::Router& router);

}  // namespace turnpike::router
