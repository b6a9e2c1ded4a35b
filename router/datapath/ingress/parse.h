// SPDX-License-Identifier: BSD-3-Clause
// Second stage: validates packets and fills in the metadata that later stages use.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Checks every received packet from Ethernet to UDP and fills in its PacketInfo:
///  - Ethernet with at most one 802.1Q tag, which stays on the packet; at a port of links in VLANs,
///    VlanTrunk has removed these links' tags, and packets with another one are dropped;
///  - IPv4 by RFC 1812 5.2.2, IPv6 by RFC 8200; addresses by RFC 1812 5.3.7 and RFC 4291;
///  - Turnpike in UDP at the topology's port; drops a packet whose Turnpike header is invalid.
/// Afterwards the frame holds only the datagram, its headers are in one segment, and every offset
/// is within it. Fragments are plain traffic: only whole datagrams are stamped.
void parse(Burst& burst, const WorkerContext& context);

/// The same for one packet, without the fast paths, whose oracle it is: parse() gives each packet
/// the same reason and metadata. `p.input` is its link of arrival. kNone: valid.
DropReason parse_fully(rte_mbuf& m, PacketInfo& p, const Tables& tables);

// One function per layer. kNone: no error so far.
DropReason parse_ethernet(rte_mbuf& m, PacketInfo& p, const Station& station);
DropReason parse_ipv4(rte_mbuf& m, PacketInfo& p, const Tables& tables);
DropReason parse_ipv6(rte_mbuf& m, PacketInfo& p, const Tables& tables);
DropReason parse_turnpike(rte_mbuf& m, PacketInfo& p, const Tables& tables);

}  // namespace turnpike::router
