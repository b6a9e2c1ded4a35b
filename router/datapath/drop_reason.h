// SPDX-License-Identifier: BSD-3-Clause
// The reasons for dropping a packet in the router, each with a name and a counter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace turnpike::router {

// X(enumerator, name in reports, meaning).
#define TURNPIKE_DROP_REASONS(X)                                                                   \
  X(kRunt, "runt", "the frame ends before its headers do")                                         \
  X(kNotForUs, "not_for_us", "the destination MAC is another station's")                           \
  X(kLinkBroadcast, "link_broadcast", "a unicast datagram in a link-layer broadcast")              \
  X(kUnknownEthertype, "unknown_ethertype", "neither IPv4, IPv6 nor ARP, or a second VLAN tag")    \
  X(kUnknownVlan, "unknown_vlan", "in a VLAN that no link of its port has, or untagged there")     \
  X(kScatteredHeaders, "scattered_headers", "headers over several segments and no room to join")   \
  X(kBadVersion, "bad_version", "the IP version is not the one that Ethernet announced")           \
  X(kBadHeaderLength, "bad_header_length", "an IPv4 header length below 20 B or past the end")     \
  X(kBadLength, "bad_length", "an IP length below its header's or beyond the frame")               \
  X(kBadChecksum, "bad_checksum", "the IPv4 header checksum is wrong")                             \
  X(kBadExtension, "bad_extension", "an IPv6 extension header chain that does not end")            \
  X(kMartianSource, "martian_source", "an invalid source address (RFC 1812 5.3.7)")                \
  X(kMartianDestination, "martian_destination", "an invalid destination address (RFC 1812 5.3.7)") \
  X(kLinkLocal, "link_local", "a link-local address: it never crosses a router")                   \
  X(kMulticast, "multicast", "an IP multicast that is not on a tree of the topology")              \
  X(kBroadcast, "broadcast", "an IP broadcast")                                                    \
  X(kTurnpikeVersion, "turnpike_version", "a Turnpike header of another version")                  \
  X(kTurnpikeKind, "turnpike_kind", "a Turnpike header of no known kind")                          \
  X(kTurnpikeLength, "turnpike_length", "a Turnpike header cut short or with an invalid length")   \
  X(kUnknownProtocol, "unknown_protocol", "a Turnpike header of no known protocol")                \
  X(kNoRoute, "no_route", "no route to the destination")                                           \
  X(kBlackhole, "blackhole", "a route to a black hole")                                            \
  X(kUnreachable, "unreachable", "a route that declares the destination unreachable")              \
  X(kProhibited, "prohibited", "a route that prohibits the destination")                           \
  X(kSourceCheck, "source_check", "a source address that its link must not use (RFC 3704)")        \
  X(kTunnelExit, "tunnel_exit", "from a tunnel, and not to a link of customers")                   \
  X(kOutsideTunnel, "outside_tunnel", "to the core or in the clear, outside of tunnels")           \
  X(kPeerSilent, "peer_silent", "for a peer that does not answer")                                 \
  X(kOverBudget, "over_budget", "its customer has spent its budget")                               \
  X(kBadArp, "bad_arp", "an ARP packet that is no Ethernet and IPv4 one")                          \
  X(kForeignArp, "foreign_arp", "an ARP request for another address, or a reply")                  \
  X(kBadNeighbour, "bad_neighbour", "a neighbour solicitation that breaks RFC 4861 7.1.1")         \
  X(kForeignNeighbour, "foreign_neighbour", "neighbour discovery not addressed to the router")     \
  X(kBadIcmp, "bad_icmp", "an ICMP message to the router with a wrong checksum or cut short")      \
  X(kLocalFragment, "local_fragment", "a fragment to the router itself, which reassembles none")   \
  X(kPortUnreachable, "port_unreachable", "UDP to the router itself")                              \
  X(kProtocolUnreachable, "protocol_unreachable", "to the router itself, no such protocol")        \
  X(kPuntRate, "punt_rate", "for Linux, beyond the rate of its class")                             \
  X(kPuntQueue, "punt_queue", "for Linux, and the queue to it is full")                            \
  X(kPuntRefused, "punt_refused", "Linux took no packet: its interface is down or gone")           \
  X(kLcoreQueue, "lcore_queue", "for a tunnel of another lcore, and the queue to it is full")      \
  X(kNoMbuf, "no_mbuf", "no buffer was free to answer it or to split it")                          \
  X(kTtlExpired, "ttl_expired", "the TTL or hop limit ran out here")                               \
  X(kNoNeighbour, "no_neighbour", "on a connected subnet, but no neighbour has the address")       \
  X(kNeighbourQueue, "neighbour_queue", "too many packets wait for neighbours' addresses")         \
  X(kTooBig, "too_big", "larger than the next MTU and not to be fragmented")                       \
  X(kFragmentFailed, "fragment_failed", "could not be fragmented")                                 \
  X(kLinkDown, "link_down", "the link is down: its port has no carrier")                           \
  X(kBadCongestionHeader, "bad_congestion_header", "congestion header fields out of range")        \
  X(kQueueFull, "queue_full", "the link's buffer has no room for its bytes")                       \
  X(kUnpaid, "unpaid", "the audit found that its sender pays less than the links charge")          \
  X(kBufferShare, "buffer_share", "packet buffers are scarce and the link has used its share")     \
  X(kQueueSlots, "queue_slots", "the link's queue has no free slot")                               \
  X(kEarlyDrop, "early_drop", "the link's law sheds load before its buffer is full")               \
  X(kTxFull, "tx_full", "the transmit queue was full")                                             \
  X(kShutdown, "shutdown", "still held when the router stopped")

/// Reasons from kTtlExpired on count at the egress link, earlier ones at the link of arrival.
enum class DropReason : uint8_t {
#define X(id, name, doc) id,
  TURNPIKE_DROP_REASONS(X)
#undef X
      kCount,
  kNone = 255,  // not dropped
};

inline constexpr size_t kDropReasons = static_cast<size_t>(DropReason::kCount);

struct DropText {
  std::string_view name, meaning;
};
inline constexpr std::array<DropText, kDropReasons> kDropTexts{{
#define X(id, name, doc) {name, doc},
    TURNPIKE_DROP_REASONS(X)
#undef X
}};
#undef TURNPIKE_DROP_REASONS

/// The name in reports and of counters.
constexpr std::string_view name_of(DropReason r) {
  return r == DropReason::kNone ? "none" : kDropTexts[static_cast<size_t>(r)].name;
}

/// Whether the packet had an egress link when it was dropped.
constexpr bool at_egress(DropReason r) { return r >= DropReason::kTtlExpired; }

}  // namespace turnpike::router
