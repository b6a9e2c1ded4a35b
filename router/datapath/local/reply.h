// SPDX-License-Identifier: BSD-3-Clause
// Ways for the router's own packets to leave: back where they came from, or by a route.
#pragma once

#include "router/datapath/ingress/ip.h"
#include "router/datapath/local/local_tx.h"
#include "router/datapath/lookup/lookup.h"

namespace turnpike::router {

/// The neighbour that a frame came from, as a next hop; its MAC is the frame's source. Lives as
/// long as the reply is on its way through forward(), which is why the LocalTx is flushed at once.
DropReason send_back(rte_mbuf& m, const PacketInfo& request, uint16_t datagram,
                     WorkerContext& context, LocalTx& out);

/// Sends a finished frame by `hop` and counts it as originated. Only NextHop::kForward is taken.
void send_by(rte_mbuf& m, PacketInfo p, const NextHop& hop, WorkerContext& context, LocalTx& out);

/// A buffer with the Ethernet header of an answer to `request` in front: same type and, where it
/// was tagged, the same tag. Data starts at the Ethernet header; `size` B in all. Null: none free.
rte_mbuf* make_frame(const rte_mbuf& request, const PacketInfo& p, uint16_t size,
                     WorkerContext& context);

}  // namespace turnpike::router
