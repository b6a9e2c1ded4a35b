// SPDX-License-Identifier: BSD-3-Clause
// ICMPv6 (RFC 4443) in a router: echo replies and errors.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

inline constexpr uint8_t kNeighbourFirst = 133, kNeighbourLast = 137;  // RFC 4861

/// Whether the message is complete and its checksum correct.
bool sound_icmp6(const rte_mbuf& m, const PacketInfo& p);

/// Writes the checksum of the message at p.l4, which is complete in the packet.
void write_icmp6_checksum(rte_mbuf& m, const PacketInfo& p);

/// Answers an echo request to the router; consumes and ignores other valid messages. On any result
/// but kNone the caller keeps the packet.
DropReason answer_echo6(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

/// Sends an ICMPv6 error to the source of a dropped IPv6 packet, if the reason calls for one and
/// RFC 4443 2.4 (e) allows it. Quotes the packet as it arrived, up to 1280 B in total (2.4 (c)).
void report_error6(const rte_mbuf& m, const PacketInfo& p, DropReason why, WorkerContext& context,
                   LocalTx& out, Nanos now);

}  // namespace turnpike::router
