// SPDX-License-Identifier: BSD-3-Clause
// The path MTU of tunnels: routers in the core say what is too big (RFC 1191, RFC 8201).
#include <algorithm>

#include "common/wire/checksum.h"
#include "common/wire/serial.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/local/packet_sum.h"
#include "router/gateway/shard.h"
#include "router/gateway/too_big.h"

namespace turnpike::gateway {
namespace {

bool checksum_holds(const rte_mbuf& m, const router::PacketInfo& p, uint32_t length) {
  uint64_t sum = router::sum_of_packet(m, p.l4, length);
  if (p.has(router::kIpv6)) {
    const uint8_t* const ip = rte_pktmbuf_mtod_offset(&m, const uint8_t*, p.l3);
    sum += wire::pseudo_header_sum(ip + wire::kIpv6SourceAt, ip + wire::kIpv6DestinationAt,
                                   router::kIcmp6, length);
  }
  return wire::fold(sum) == 0xffff;
}

/// The record of a packet in flight; null: it was answered, is lost or was never sent. Tunnels send
/// no packet again, so that sequence numbers rise along the list.
const sender::SentPacket* in_flight(const sender::Flow& flow, sender::RecordPool& pool,
                                    uint32_t sequence) {
  if (!wire::serial_before(sequence, static_cast<uint32_t>(flow.next_sequence))) return nullptr;
  for (uint32_t i = flow.in_flight.head(); i != sender::kNoRecord; i = pool[i].next) {
    const sender::SentPacket& r = pool[i];
    const auto own = static_cast<uint32_t>(r.sequence);
    if (own == sequence && r.kind == wire::Kind::kData) return &r;
    if (wire::serial_before(sequence, own)) return nullptr;
  }
  return nullptr;
}

}  // namespace

std::optional<TooBig> too_big_of(const rte_mbuf& m, const router::PacketInfo& p) {
  const bool ipv6 = p.has(router::kIpv6);
  if (p.l4_protocol != (ipv6 ? router::kIcmp6 : router::kIcmp) || p.has(router::kFragment))
    return {};
  const auto length = static_cast<uint32_t>(p.datagram - (p.l4 - p.l3));
  if (m.nb_segs > 1 || p.l4 + length > m.data_len) return {};
  const auto error =
      read_too_big({rte_pktmbuf_mtod_offset(&m, const uint8_t*, p.l4), length}, ipv6);
  if (!error || !checksum_holds(m, p, length)) return {};
  return error;
}

void Shard::take_error(const TooBig& error, Nanos now) {
  const sender::Flow* const flow = state_.flows.find(error.flow);
  if (flow == nullptr || flow->stage != sender::Stage::kOpen || flow->token != error.token) {
    received_.forged_packets.add();
    return;
  }
  MtuClaim& claim = peers_[flow->to].claim;
  if (claim.until != kNever || !peers_.would_limit(flow->to, error.mtu)) return;
  const sender::SentPacket* const packet = in_flight(*flow, state_.records, error.sequence);
  if (packet == nullptr || packet->size <= error.mtu) {
    received_.forged_packets.add();
    return;
  }
  const Nanos away = std::max(flow->rtt.smoothed(), flow->newest_rtt) + flow->rtt.reordering();
  claim = {.until = std::max(packet->sent + away, now),
           .flow = error.flow,
           .sequence = error.sequence,
           .mtu = error.mtu};
  next_claim_ = std::min(next_claim_, claim.until);
}

void Shard::settle_claims(Nanos now) {
  totals_.mtu_reductions.add(peers_.settle_claims(now));
  next_claim_ = peers_.next_claim();
}

// A packet is too large for a link, or it arrives: an answer is stronger than an error, which
// anyone who sees the packet may forge.
void Shard::check_claim(size_t peer, const sender::AckInfo& answer) {
  const uint32_t sequence = peers_[peer].claim.sequence;
  const auto covers = [&](const wire::SeqRange& range) {
    return !wire::serial_before(sequence, range.begin) && wire::serial_before(sequence, range.end);
  };
  if (answer.kind != wire::Kind::kAck) return;
  if (answer.sequence == sequence || std::ranges::any_of(answer.ranges, covers))
    peers_.refute_claim(peer);
}

// A link of this router may be narrower than the one to which the MTU of tunnels belongs. Its ICMP
// errors would be for itself, and it sends none.
void Shard::refused(const router::Burst& burst) {
  router::for_each(burst.dropped, [&](unsigned i) {
    const router::PacketInfo& p = burst.info[i];
    if (burst.reason[i] != router::DropReason::kTooBig || p.congestion == 0) return;
    const uint8_t* const header = router::frame_of(burst.mbufs[i]) + p.l4 + wire::kUdpSize;
    const sender::Flow* const flow = state_.flows.find(wire::load_be32(header + wire::kFlowAt));
    if (flow != nullptr && peers_.limit_mtu(flow->to, p.hop->mtu, burst.now))
      totals_.mtu_reductions.add();
  });
}

}  // namespace turnpike::gateway
