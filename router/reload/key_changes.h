// SPDX-License-Identifier: BSD-3-Clause
// Changed keys of gateways, which a plan names without showing them.
#pragma once

#include <string>
#include <vector>

#include "common/config/topology.h"
#include "router/reload/plan.h"

namespace turnpike::router {

/// The reason why the router of this name cannot use the keys of its gateway; empty: it can, or
/// needs none.
std::string key_obstacle(const config::Topology& topology, const std::string& router);

/// The key files that the router of this name reads.
std::vector<std::string> key_files(const config::Topology& topology, const std::string& router);

/// The changes of keys from `running` to `wanted`, for the router of this name.
std::vector<PlannedChange> key_changes(const config::Topology& running,
                                       const config::Topology& wanted, const std::string& router);

}  // namespace turnpike::router
