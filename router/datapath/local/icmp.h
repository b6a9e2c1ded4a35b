// SPDX-License-Identifier: BSD-3-Clause
// ICMP (RFC 792) in a router: echo replies and errors.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Answers an echo request to the router; consumes and ignores other valid messages. On any result
/// but kNone the caller keeps the packet.
DropReason answer_echo(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

/// Sends an ICMP error to the source of a dropped IPv4 packet, if the reason calls for one and RFC
/// 1812 4.3.2.7 allows it: never about an ICMP error, a later fragment, or a broadcast. Quotes the
/// packet as it arrived, up to 576 B in total (4.3.2.3). Limited to the context's rate of errors.
void report_error(const rte_mbuf& m, const PacketInfo& p, DropReason why, WorkerContext& context,
                  LocalTx& out, Nanos now);

}  // namespace turnpike::router
