// SPDX-License-Identifier: BSD-3-Clause
// Which customers and groups of a running router go on in a changed topology: those of the same
// name.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/topology.h"
#include "router/datapath/enforcement/enforcement.h"

namespace turnpike::router {

/// By new LinkPacket::group the old one or kNewGroup; empty: the groups are the same.
std::vector<uint16_t> groups_from(const config::Topology& running, const config::Topology& wanted);

/// Of the customers of running.routers[before] and wanted.routers[after]. `enforcement`: the
/// running one.
Enforcement::Succession succession_of(const config::Topology& running,
                                      const config::Topology& wanted, size_t before, size_t after,
                                      const Enforcement& enforcement);

/// Completes `s` where customers are the same.
void add_changed_budgets(const Enforcement& running, const Enforcement& wanted,
                         Enforcement::Succession& s);

}  // namespace turnpike::router
