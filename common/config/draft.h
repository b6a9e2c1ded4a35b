// SPDX-License-Identifier: BSD-3-Clause
// A topology under construction: each function below adds one part of the file to it, reports the
// mistakes in that part and goes on with the rest.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/mistakes.h"
#include "common/config/spec.h"
#include "common/config/topology.h"
#include "common/parallel/threads.h"

namespace turnpike::config {

/// Links that one file may have: addresses are sized for it.
inline constexpr size_t kMaxLinks = 65'536;
/// Routes that the routers of one file may compute together: a route of each family takes about
/// 60 B.
inline constexpr size_t kMaxRoutes = size_t{1} << 23;

/// The topology so far, and facts for later steps. Keeps references to its arguments.
struct Draft {
  Draft(const FileSpec& spec, Mistakes& list, const Threads& workers)
      : file(spec), mistakes(list), threads(workers) {}

  const FileSpec& file;
  Mistakes& mistakes;
  const Threads& threads;
  Topology topology;

  std::map<std::string, size_t, std::less<>> hosts, routers, links, groups, trees;
  std::vector<std::string_view> host_names, node_names;
  std::vector<bool> placed;  // by host: it is attached to a link
  bool ends_known = true;    // of all links; otherwise unreachability cannot be reported
  bool tables_right = true;  // addresses and routes; otherwise the graph alone decides reachability
  // Longest round trip of a flow over each link's directions; 0 s without flows.
  std::vector<std::array<Nanos, 2>> round_trips;

  [[nodiscard]] const LinkSpec& link_spec(size_t link) const {
    return file.links.value[link].value;
  }
  [[nodiscard]] std::string link_path(size_t link) const {
    return "links." + file.links.value[link].name;
  }
};

/// Settings of the run.
void place_run(Draft& draft);
/// Nodes: names, lcores, hosts' budgets.
void place_nodes(Draft& draft);
/// Links: ends, rates, delays, laws; reports hosts that are not at exactly one link.
void place_links(Draft& draft);
/// Classes of the link's direction 0 or 1. Called by place_links().
void place_classes(Draft& draft, size_t index, size_t direction);
/// Addresses and MACs, given or assigned.
void place_addresses(Draft& draft);
/// Attachments of link ends to ports; two ends never share a device.
void place_ports(Draft& draft);
/// Routing tables: routes from the file, and the shortest path to every other link.
void place_routes(Draft& draft);
/// Linux as a router's control plane: names of the TAP interfaces. Needs attachments.
void place_control(Draft& draft);
/// Adds the routes in a router's `table` file to it, and changes nothing else. Returns the
/// mistakes. Called by place_routes().
std::vector<Mistake> read_table(const Draft& draft, Router& router,
                                const Field<std::string>& table);
/// The router's link named by `via`: the link's name, or the neighbour's address on it.
/// std::nullopt: no such link.
std::optional<size_t> neighbour_link(const Draft& draft, const Router& router,
                                     const std::string& via);
/// Reports traffic that stops before it starts or starts after the run's end. `path`: of the entry.
void check_times(Draft& draft, const Field<Nanos>& start, const Field<Nanos>& stop,
                 const std::string& path);
/// Groups, customers, and which routers enforce their budgets on which links.
void place_customers(Draft& draft);
/// Validates sources on link `index`, towards the router, unless the file says how: a customer's
/// address is its name.
void check_sources(Draft& draft, const Router& router, size_t index);
/// Customers in a separate file. Called by place_customers().
void place_customer_table(Draft& draft, const Field<std::string>& table);
/// Gateways: their core links and their peers. Needs routes.
void place_gateways(Draft& draft);
/// Reports a peer that the gateway has no route to, in the file or computed. Called by
/// place_gateways().
void check_peer_routes(Draft& draft, const Gateway& gateway, const GatewayPeer& peer,
                       const Named<GatewayPeerSpec>& named);
/// Keys of the gateway's peers. Called by place_gateways().
void place_keys(Draft& draft, Gateway& gateway, const Field<std::string>& key_file);
/// Trees: addresses, receivers, and each router's branch.
void place_trees(Draft& draft);
/// Flows and workloads. Reports hosts without a path to each other.
void place_traffic(Draft& draft);
/// Open-loop streams. Reports hosts without a path to each other.
void place_streams(Draft& draft);
/// Buffers in bytes. Needs the round trips that place_traffic() and place_streams() noted.
void place_buffers(Draft& draft);

}  // namespace turnpike::config
