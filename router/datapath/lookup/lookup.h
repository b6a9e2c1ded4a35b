// SPDX-License-Identifier: BSD-3-Clause
// Third stage: where each packet goes.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Looks the whole burst up, IPv4 and IPv6 each in one bulk call, and sets hop, link and size.
/// Packets for the router itself move to `local`, larger than the next MTU to `oversized` (DF
/// clear) or are dropped, as are those without a way or with a spent TTL.
void lookup(Burst& burst, const WorkerContext& context);

/// Egress link and size there.
inline void set_hop(PacketInfo& p, const NextHop& hop) {
  p.hop = &hop;
  p.link = hop.link;
  p.size = p.datagram + hop.overhead;
}

}  // namespace turnpike::router
