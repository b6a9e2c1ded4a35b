// SPDX-License-Identifier: BSD-3-Clause
// The simulated link of a topology's link.
#pragma once

#include <string>

#include "common/config/topology.h"
#include "lab/simulator/sim_link.h"

namespace turnpike::lab {

[[nodiscard]] bool is_router(const config::Topology& topology, const std::string& node);

/// Of one direction of topology.links[link]. Shaped routers pace their packets; hosts and line-rate
/// routers rely on their port.
[[nodiscard]] SimLinkOptions link_options(const config::Topology& topology, size_t link,
                                          size_t direction, uint64_t seed);

}  // namespace turnpike::lab
