// SPDX-License-Identifier: BSD-3-Clause
// Third stage: finds each packet's next hop.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Looks up the whole burst, IPv4 and IPv6 each in one bulk call, and sets hop, link and size.
/// Moves packets to the router itself to `local`, and packets larger than the next hop's MTU to
/// `oversized` (DF clear), packets to the group of a tree to `multicast`, and packets to a
/// neighbour without a known MAC address to `unresolved`. Drops those without a route, with one
/// that drops, with an expired TTL, or too large with DF set.
void lookup(Burst& burst, const WorkerContext& context);

/// Sets the egress link and the size on it, B.
inline void set_hop(PacketInfo& p, const NextHop& hop) {
  p.hop = &hop;
  p.link = hop.link;
  p.size = p.datagram + hop.overhead;
}

}  // namespace turnpike::router
