// SPDX-License-Identifier: BSD-3-Clause
// Names of link directions in results.
#pragma once

#include <algorithm>
#include <string>

#include "common/config/path.h"
#include "common/config/topology.h"

namespace turnpike::sender {

/// The link's name for the direction that a router feeds, which has a queue and a price; the
/// forward direction where both ends or neither are routers. "<link> from <node>" for the other
/// direction.
inline std::string link_name(const config::Topology& topology, const config::Hop& hop) {
  const config::Link& link = topology.links[hop.link];
  const auto routed = [&](size_t end) {
    return std::any_of(topology.routers.begin(), topology.routers.end(),
                       [&](const config::Router& r) { return r.name == link.ends[end].node; });
  };
  const size_t plain = routed(1) && !routed(0) ? 1 : 0;
  return hop.direction == plain ? link.name : link.name + " from " + link.ends[hop.direction].node;
}

}  // namespace turnpike::sender
