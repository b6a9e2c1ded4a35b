// SPDX-License-Identifier: BSD-3-Clause
// Customers' packets on their way into tunnels.
#include <bit>
#include <utility>

#include <rte_jhash.h>

#include "common/wire/dscp.h"
#include "router/datapath/egress/rewrite.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/lookup/address_batch.h"
#include "router/datapath/lookup/flow_hash.h"
#include "router/datapath/lookup/lookup.h"
#include "router/datapath/worker_context.h"
#include "router/gateway/mss.h"
#include "router/gateway/release.h"
#include "router/gateway/shard.h"

namespace turnpike::gateway {
namespace {

using router::AddressBatch;
using router::Burst;
using router::PacketInfo;

/// Hash of a packet's source address.
uint32_t host_hash(const uint8_t* ip, bool ipv6, uint32_t seed) {
  if (!ipv6) return rte_jhash_1word(wire::load_be32(ip + wire::kIpv4SourceAt), seed);
  uint32_t words[4];
  std::memcpy(words, ip + wire::kIpv6SourceAt, sizeof words);
  return rte_jhash_32b(words, 4, seed);
}

}  // namespace

// By the packet's DSCP (RFC 2474).
size_t Shard::class_of(const rte_mbuf& m, const PacketInfo& p) const {
  return own_.class_of[wire::dscp_of(rte_pktmbuf_mtod_offset(&m, const uint8_t*, p.l3))];
}

void Shard::enter(Burst& burst, router::WorkerContext& context) {
  if (seal_) refuse_clear(burst);
  uint32_t candidates = 0;
  router::for_each(burst.forward, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    candidates |= uint32_t{!core_[p.input] && !p.has(router::kOriginated)} << i;
  });
  if (candidates == 0) return;

  std::array<uint64_t, router::kBurst> customer{}, peer{};
  const AddressBatch destinations(
      burst, candidates, [](const uint8_t* ip) { return ip + wire::kIpv4DestinationAt; },
      [](unsigned, const uint8_t* ip) { return ip + wire::kIpv6DestinationAt; });
  uint32_t remote = 0;
  destinations.find<uint64_t>(peers_, [&](unsigned i, uint64_t found) {
    peer[i] = found;
    remote |= uint32_t{found != 0} << i;
  });
  router::for_each(candidates & ~remote, [&](unsigned i) { pass_outside(burst, i); });
  if (remote == 0) return;
  const AddressBatch sources(
      burst, remote, [](const uint8_t* ip) { return ip + wire::kIpv4SourceAt; },
      [](unsigned, const uint8_t* ip) { return ip + wire::kIpv6SourceAt; });
  sources.find<uint64_t>(*parts_.customers,
                         [&](unsigned i, uint64_t found) { customer[i] = found; });

  uint32_t entered = 0;
  uint64_t bytes = 0;
  router::for_each(remote, [&](unsigned i) {
    if (const uint32_t own = parts_.customers->of_link(burst.info[i].input); own != 0)
      customer[i] = own;
    if (customer[i] == 0) {
      totals_.unknown_customers.add();
      if (seal_ && core_[burst.info[i].link])
        return burst.drop(i, router::DropReason::kOutsideTunnel);
      return pass_outside(burst, i);
    }
    const size_t number = customer[i] - 1;
    if (const unsigned lcore = parts_.lcore_of(number); lcore != index_)
      return hand_over(burst, i, lcore, number, context);
    const size_t payer = parts_.place_of(number);
    if (bypassed(payer)) [[unlikely]]
      return totals_.bypassed.add();
    const uint32_t to = static_cast<uint32_t>(peer[i]) - 1;
    Peer& other = peers_[to];
    Tunnel& tunnel = tunnel_of(payer, class_of(*burst.mbufs[i], burst.info[i]), to);
    if (silent(to)) [[unlikely]] {
      if (own_.silent_peer == config::SilentPeer::kDrop)
        return burst.drop(i, router::DropReason::kPeerSilent);
      return totals_.outside.add();
    }
    PacketInfo& p = burst.info[i];
    if (p.datagram > other.inner_mtu) [[unlikely]] {
      set_hop(p, other.hop);
      if (p.has(router::kMayFragment)) return burst.move_to(burst.oversized, i);
      return burst.drop(i, router::DropReason::kTooBig);
    }
    entered |= 1U << i;
    bytes += p.datagram;
    enter(burst.mbufs[i], p, tunnel, burst.now);
  });
  burst.forward &= ~entered;
  totals_.entered_packets.add(static_cast<unsigned>(std::popcount(entered)));
  totals_.entered_bytes.add(bytes);
  context.counters->delivered.add(static_cast<unsigned>(std::popcount(entered)));
}

// The other lcore may take the packet at once: it counts as handed before.
void Shard::hand_over(Burst& burst, unsigned i, unsigned to, size_t owner,
                      router::WorkerContext& context) {
  context.counters->handed.add();
  const uint64_t share = owner / parts_.options.lcores % HandOver::kShares;
  if (!parts_.hand_over->push(index_, to, {burst.mbufs[i], burst.info[i], share})) {
    context.counters->taken.add();
    return burst.drop(i, router::DropReason::kLcoreQueue);
  }
  totals_.handed_over.add();
  burst.leave(i);
}

// Nothing limits what a customer sends to the core without a price, and priced flows give way to
// it.
void Shard::pass_outside(Burst& burst, unsigned i) const {
  if (core_[burst.info[i].link] && !own_.outside) burst.drop(i, router::DropReason::kOutsideTunnel);
}

// Where a policy asks for protection, packets without it are refused (RFC 4301 section 5.2).
void Shard::refuse_clear(Burst& burst) const {
  uint32_t clear = 0;
  router::for_each(burst.forward | burst.oversized, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    const bool opened = (burst.mbufs[i]->ol_flags & kOpened) != 0;
    clear |= uint32_t{core_[p.input] && !p.has(router::kOriginated) && !opened} << i;
  });
  if (clear == 0) return;
  const AddressBatch sources(
      burst, clear, [](const uint8_t* ip) { return ip + wire::kIpv4SourceAt; },
      [](unsigned, const uint8_t* ip) { return ip + wire::kIpv6SourceAt; });
  sources.find<uint64_t>(peers_, [&](unsigned i, uint64_t found) {
    if (found != 0) burst.drop(i, router::DropReason::kOutsideTunnel);
  });
}

void Shard::enter(rte_mbuf* m, const PacketInfo& p, Tunnel& tunnel, Nanos now) {
  const bool ipv6 = p.has(router::kIpv6);
  const uint32_t flow = router::flow_hash(*m, p, seed_);
  uint8_t* const ip = router::frame_of(m) + p.l3;
  const uint32_t host = host_hash(ip, ipv6, seed_);
  router::decrement_ttl(ip, ipv6);
  if (p.l4_protocol == router::kTcp)
    clamp_mss(ip, m->data_len - uint32_t{p.l3}, peers_[tunnel.peer()].inner_mtu);
  rte_pktmbuf_adj(m, p.l3);
  tunnel.put(m, host, flow, now);
  if (std::exchange(tunnel.ready, true)) return;
  ready_.push_back(&tunnel);
}

}  // namespace turnpike::gateway
