// SPDX-License-Identifier: BSD-3-Clause
// IPv4 fragmentation (RFC 791, RFC 1812 4.2.2.7) by librte_ip_frag.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Sends an oversized datagram as fragments that fit the next hop's MTU, each with the frame's
/// Ethernet header and tag. On any result but kNone the caller keeps the packet, unchanged.
DropReason fragment(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

}  // namespace turnpike::router
