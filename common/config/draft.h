// SPDX-License-Identifier: BSD-3-Clause
// A topology in the making: each stage below takes what the file says one step further, reports
// what is wrong and goes on with the rest.
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

namespace turnpike::config {

/// Links that one file may have: addresses and routing tables are sized for it.
inline constexpr size_t kMaxLinks = 1024;

struct Draft {
  Draft(const FileSpec& spec, Mistakes& list) : file(spec), mistakes(list) {}

  const FileSpec& file;
  Mistakes& mistakes;
  Topology topology;

  std::map<std::string, size_t, std::less<>> hosts, routers, links;
  std::vector<std::string_view> host_names, node_names;
  std::vector<bool> placed;  // by host: it hangs on a link
  bool ends_known = true;    // of all links; else nobody can say what is not reachable
  bool tables_right = true;  // addresses and routes; else the graph alone says what is reachable
  // Longest round trip of a flow over each link's directions; 0 without flows.
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
/// Names, ends, rates, delays and laws; every host on its one link.
void place_nodes(Draft& draft);
void place_links(Draft& draft);
/// Addresses and MACs, given or assigned.
void place_addresses(Draft& draft);
/// Ports that ends are attached to, no two ends on one.
void place_ports(Draft& draft);
/// Routing tables: by hand, and the shortest way to every other link.
void place_routes(Draft& draft);
/// What the `table` of router `index` adds to them; place_routes() calls it.
void place_table(Draft& draft, size_t index, const Field<std::string>& table);
/// The router's link that `via` means: the link's name, or the neighbour's address there.
std::optional<size_t> neighbour_link(const Draft& draft, const Router& router,
                                     const std::string& via);
/// Traffic stops after it starts, and starts within the run. `path` is that of its entry.
void check_times(Draft& draft, const Field<Nanos>& start, const Field<Nanos>& stop,
                 const std::string& path);
/// Flows and workloads, each between hosts that can reach each other.
void place_traffic(Draft& draft);
/// Open-loop streams, likewise.
void place_streams(Draft& draft);
/// Buffers in bytes, now that every flow's round trip is known.
void place_buffers(Draft& draft);

}  // namespace turnpike::config
