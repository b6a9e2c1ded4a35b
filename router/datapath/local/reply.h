// SPDX-License-Identifier: BSD-3-Clause
// Sends packets that the router originates: back to the neighbour, or by a route.
#pragma once

#include "router/datapath/ingress/ip.h"
#include "router/datapath/local/local_tx.h"
#include "router/datapath/lookup/lookup.h"

namespace turnpike::router {

/// Sends `m`, a datagram of `datagram` B, back to the neighbour it came from: the frame's source
/// MAC, on the link of arrival. Flushes `out`, since its next hop is on the stack. On any result
/// but kNone the caller keeps the packet.
DropReason send_back(rte_mbuf& m, const PacketInfo& request, uint16_t datagram,
                     WorkerContext& context, LocalTx& out);

/// Sends a complete frame by `hop`, whose action must be kForward, and counts it as originated.
void send_by(rte_mbuf& m, PacketInfo p, const NextHop& hop, WorkerContext& context, LocalTx& out);

/// Allocates a frame of `size` B for an answer to `request`, with a copy of its Ethernet header and
/// tag at the beginning. Null: no free buffer.
rte_mbuf* make_frame(const rte_mbuf& request, const PacketInfo& p, uint16_t size,
                     WorkerContext& context);

}  // namespace turnpike::router
