// SPDX-License-Identifier: BSD-3-Clause
// Folders of several routers in one run, and the names of their links in its results.
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::lab {

/// The run's folder if there is one router; a folder below it for each of several.
std::string router_folder(const config::Topology& topology, const config::Router& router,
                          const std::string& folder);

/// Reads the counters that a router wrote at its end; the error says why they cannot be read.
tl::expected<nlohmann::json, std::string> read_router(const config::Topology& topology,
                                                      const config::Router& router,
                                                      const std::string& folder);

/// Joins the links.csv of several routers into one in `folder`, each link under the name that
/// summary.json gives it. With one router there is nothing to do.
void gather_links(const config::Topology& topology, const std::string& folder);

/// The name in results of the link that `router` calls `link`.
std::string full_link_name(const config::Topology& topology, const std::string& router,
                           const std::string& link);

}  // namespace turnpike::lab
