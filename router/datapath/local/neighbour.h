// SPDX-License-Identifier: BSD-3-Clause
// Neighbour discovery (RFC 4861) for the router's own addresses.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Turns a solicitation for one of this link's addresses into its advertisement, in the same
/// buffer, and sends it. The caller has checked the message's checksum. On any result but kNone the
/// caller keeps the packet.
DropReason answer_neighbour(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

}  // namespace turnpike::router
