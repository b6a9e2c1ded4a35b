// SPDX-License-Identifier: BSD-3-Clause
// A burst of packets and its metadata, passed from stage to stage.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include <rte_mbuf.h>

#include "common/config/topology.h"
#include "common/units/units.h"
#include "common/wire/turnpike_header.h"
#include "router/control/next_hop.h"
#include "router/datapath/drop_reason.h"

namespace turnpike::router {

inline constexpr unsigned kBurst = 32;

/// Results of parse(), as bits.
enum PacketFlag : uint16_t {
  kIpv6 = 1 << 0,
  kVlan = 1 << 1,  // one 802.1Q tag, which stays on the packet
  kArp = 1 << 2,
  kFragment = 1 << 3,       // any fragment of a datagram
  kLaterFragment = 1 << 4,  // any fragment but the first
  kLinkCast = 1 << 5,       // received as link-layer multicast or broadcast
  kTurnpike = 1 << 6,       // a valid Turnpike header
  kOpens = 1 << 7,          // SYN
  kOriginated = 1 << 8,     // built by this router: its TTL is not decremented
  kMayFragment = 1 << 9,    // IPv4 with DF clear
  kGroup = 1 << 10,         // to an IP multicast address
};

/// One packet's metadata; half a cache line. Offsets count from the first byte of the frame.
struct PacketInfo {
  uint16_t l3 = 0;          // IP header (or ARP)
  uint16_t l4 = 0;          // header after the IP headers; 0: none
  uint16_t congestion = 0;  // congestion header that a law may stamp; 0: none
  uint16_t datagram = 0;    // B of the IP datagram
  uint16_t flags = 0;
  uint8_t l4_protocol = 0;  // IP protocol number of l4
  uint8_t protocol = 0;     // Turnpike protocol id
  uint16_t input = 0;       // link of arrival
  uint16_t link = 0;        // egress link, once routed; in Burst::multicast the tree
  uint32_t size = 0;        // B on the egress link: datagram and overhead
  uint32_t customer = 0;    // of its source, see CustomerTable; 0: none
  const NextHop* hop = nullptr;

  [[nodiscard]] bool has(PacketFlag f) const { return (flags & f) != 0; }
};
static_assert(sizeof(PacketInfo) == 32);

/// The set of a burst's first `n` packets.
constexpr uint32_t first_of(unsigned n) { return n == 32 ? ~0U : (1U << n) - 1; }

/// Packets in the stages. Every packet is in one of the sets below, or in none once a stage has
/// taken ownership.
struct Burst {
  unsigned count = 0;
  uint16_t input = 0;  // link of arrival
  uint64_t bytes = 0;  // of its datagrams at arrival; of frames without one, their own
  Nanos now{0};
  Nanos since{0};  // earliest possible arrival time of its packets: before now only after a stall
  uint32_t forward = 0;     // to be forwarded
  uint32_t local = 0;       // addressed to the router itself
  uint32_t oversized = 0;   // to be fragmented
  uint32_t dropped = 0;     // to be dropped for reason[]
  uint32_t multicast = 0;   // to the group of a tree
  uint32_t unresolved = 0;  // to a next hop whose MAC address is not known
  // Packets whose TTL or hop limit is more than 1 and whose destinations are in the arrays below,
  // so that lookups need not collect them; from parse() on.
  uint32_t with_ipv4 = 0, with_ipv6 = 0;
  std::array<rte_mbuf*, kBurst> mbufs;
  std::array<PacketInfo, kBurst> info;
  std::array<DropReason, kBurst> reason;
  std::array<uint32_t, kBurst> destinations4{};  // in host order
  std::array<config::Ipv6, kBurst> destinations6{};

  /// Begins with the first `n` of `mbufs`, all in `forward`, as of link `link`.
  void begin(unsigned n, unsigned link, Nanos time) {
    count = n;
    input = static_cast<uint16_t>(link);
    now = since = time;
    forward = first_of(n);
    local = oversized = dropped = multicast = unresolved = with_ipv4 = with_ipv6 = 0;
  }

  /// Packets that are not simply forwarded.
  [[nodiscard]] uint32_t apart() const {
    return local | oversized | dropped | multicast | unresolved;
  }

  /// Moves packet i to `dropped`; WorkerContext::sweep() frees it.
  void drop(unsigned i, DropReason why) {
    leave(i);
    dropped |= 1U << i;
    reason[i] = why;
  }
  void move_to(uint32_t& set, unsigned i) {
    leave(i);
    set |= 1U << i;
  }
  /// Removes a packet from all sets: the caller takes ownership.
  void leave(unsigned i) {
    const uint32_t others = ~(1U << i);
    forward &= others;
    local &= others;
    oversized &= others;
    dropped &= others;
    multicast &= others;
    unresolved &= others;
  }
};
static_assert(kBurst <= 32, "the sets are 32 bits");

/// Calls f(i) for every member of a set, in order.
template <class F>
inline void for_each(uint32_t set, F&& f) {
  for (; set != 0; set &= set - 1) f(static_cast<unsigned>(std::countr_zero(set)));
}

/// The same; faster for sets of the first packets of a burst, and twice as much code.
template <class F>
[[gnu::always_inline]] inline void for_each_dense(uint32_t set, F&& f) {
  if ((set & (set + 1)) == 0) [[likely]] {
    const auto n = static_cast<unsigned>(std::bit_width(set));
    for (unsigned i = 0; i < n; ++i) f(i);
  } else {
    for_each(set, f);
  }
}

inline uint8_t* frame_of(rte_mbuf* m) { return rte_pktmbuf_mtod(m, uint8_t*); }

}  // namespace turnpike::router
