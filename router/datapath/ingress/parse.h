// SPDX-License-Identifier: BSD-3-Clause
// Second stage: from bytes that anybody may have sent to facts that later stages may trust.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Checks every packet of a fresh burst from Ethernet to UDP and fills in its PacketInfo:
///  - Ethernet with at most one 802.1Q tag (it stays on the packet all the way through);
///  - IPv4 by RFC 1812 5.2.2, IPv6 by RFC 8200; addresses by RFC 1812 5.3.7 and RFC 4291;
///  - Turnpike in UDP at the topology's port; a header there that is not sound is a drop.
/// Afterwards the frame holds the datagram and nothing behind it, its headers lie in one segment,
/// and every offset is inside. Fragments are plain traffic: only a whole datagram is ever stamped.
void parse(Burst& burst, const WorkerContext& context);

/// From Ethernet to IP, whatever the packet is; kNone: sound, and `p` says what it is.
DropReason parse_fully(rte_mbuf& m, PacketInfo& p, const Tables& tables);

// The layers, each for one packet; kNone: sound so far.
DropReason parse_ethernet(rte_mbuf& m, PacketInfo& p, const Station& station);
DropReason parse_ipv4(rte_mbuf& m, PacketInfo& p, const Tables& tables);
DropReason parse_ipv6(rte_mbuf& m, PacketInfo& p, const Tables& tables);
DropReason parse_turnpike(rte_mbuf& m, PacketInfo& p, const Tables& tables);

}  // namespace turnpike::router
