// SPDX-License-Identifier: BSD-3-Clause
// ICMPv6 (RFC 4443) as a router speaks it: echo replies and errors.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

inline constexpr uint8_t kNeighbourFirst = 133, kNeighbourLast = 137;  // RFC 4861

/// Whether the message is whole and its checksum right.
bool sound_icmp6(const rte_mbuf& m, const PacketInfo& p);

/// Writes the checksum of the message at p.l4, all of it in the packet.
void write_icmp6_checksum(rte_mbuf& m, const PacketInfo& p);

/// Answers an echo request to the router; other sound messages are taken and ignored. Any result
/// but kNone leaves the packet to the caller.
DropReason answer_echo6(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

/// Tells the source of an IPv6 packet why it was dropped, where the reason calls for that and
/// RFC 4443 2.4 (e) allows it. Quotes the packet as it came, up to 1280 B in all (2.4 (c)).
void report_error6(const rte_mbuf& m, const PacketInfo& p, DropReason why, WorkerContext& context,
                   LocalTx& out, Nanos now);

}  // namespace turnpike::router
