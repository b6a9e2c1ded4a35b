// SPDX-License-Identifier: BSD-3-Clause
// ARP (RFC 826): who has this address? The router, where it is its own on that link.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Turns a request for this link's address into its reply, in the same buffer. Any other result
/// than kNone leaves the packet to the caller.
DropReason answer_arp(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

}  // namespace turnpike::router
