// SPDX-License-Identifier: BSD-3-Clause
// Makes a route of the forwarding tables out of a route of the kernel, its interfaces and its
// nexthop objects.
#pragma once

#include <array>
#include <cstdint>

#include "router/linux/interfaces.h"
#include "router/linux/nexthops.h"
#include "router/linux/route_list.h"

namespace turnpike::router {

/// Administrative distance by the protocol that made a route (rtm_protocol, linux/rtnetlink.h).
using Distances = std::array<uint8_t, 256>;

/// FRR's defaults: kernel 0, boot and static 1, BGP 20, OSPF 110, IS-IS 115, RIP 120, others 150.
Distances default_distances();

/// Writes the route to `out` and returns kInstalled, or the reason why it cannot be used now. The
/// route to an address of the machine is local, whatever its interface.
RouteStatus resolve_route(const Prefix& prefix, const KernelRoute& route,
                          const Interfaces& interfaces, const Nexthops& nexthops,
                          const Distances& distances, Route& out);

}  // namespace turnpike::router
