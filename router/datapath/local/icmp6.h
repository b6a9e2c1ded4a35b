// SPDX-License-Identifier: BSD-3-Clause
// ICMPv6 (RFC 4443) in a router: echo replies and errors.
#pragma once

#include "router/datapath/local/local_tx.h"

namespace turnpike::router {

/// Messages of neighbour discovery (RFC 4861): router solicitation to redirect.
inline constexpr uint8_t kMinNdType = 133, kMaxNdType = 137;

/// Whether the header is contiguous and the checksum over the whole message is correct.
bool valid_icmp6(const rte_mbuf& m, const PacketInfo& p);

/// Computes and writes the checksum of the ICMPv6 message at p.l4. `p.datagram` is its final
/// length.
void write_icmp6_checksum(rte_mbuf& m, const PacketInfo& p);

/// Turns an echo request to the router into its reply and sends it; frees other messages. The
/// caller has checked valid_icmp6(). Takes the packet if it returns kNone; else the caller keeps
/// it.
DropReason answer_echo6(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out);

/// Sends an ICMPv6 error to the source of a dropped IPv6 packet, if the reason calls for one and
/// RFC 4443 2.4 (e) allows it. Quotes the packet as it arrived, up to 1280 B in total (2.4 (c)).
/// Limited to the context's rate of errors (2.4 (f)).
void report_error6(const rte_mbuf& m, const PacketInfo& p, DropReason why, WorkerContext& context,
                   LocalTx& out, Nanos now);

}  // namespace turnpike::router
