// SPDX-License-Identifier: BSD-3-Clause
// ARP (RFC 826) for the router's own addresses.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Turns a request for this link's address into its reply, in the same buffer, and sends it. On any
/// result but kNone the caller keeps the packet.
DropReason answer_arp(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

}  // namespace turnpike::router
