// SPDX-License-Identifier: BSD-3-Clause
// ICMP (RFC 792) as a router speaks it: echo replies and errors.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Answers an echo request to the router; other sound messages are taken and ignored. Any result
/// but kNone leaves the packet to the caller.
DropReason answer_echo(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

/// Tells the source of an IPv4 packet why it was dropped, where the reason calls for that and
/// RFC 1812 4.3.2.7 allows it: never about an ICMP error, a later fragment, or a broadcast. Quotes
/// the packet as it came, up to 576 B in all (4.3.2.3); no more than the context's rate of errors.
void report_error(const rte_mbuf& m, const PacketInfo& p, DropReason why, WorkerContext& context,
                  LocalTx& out, Nanos now);

}  // namespace turnpike::router
