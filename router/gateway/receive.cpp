// SPDX-License-Identifier: BSD-3-Clause
// Packets of tunnels that arrive: data from peers, and their answers.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "common/dpdk/buffer.h"
#include "common/wire/ecn.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/worker_context.h"
#include "router/gateway/release.h"
#include "router/gateway/shard.h"
#include "sender/receiver/reply.h"

namespace turnpike::gateway {

using router::Burst;
using router::PacketInfo;
using sender::ReceivedPacket;

namespace {

uint32_t flow_of(rte_mbuf* m, const PacketInfo& p) {
  return wire::load_be32(router::frame_of(m) + p.l4 + wire::kUdpSize + wire::kFlowAt);
}

}  // namespace

void Shard::receive(Burst& burst, router::WorkerContext& context) {
  uint32_t taken = 0;
  router::for_each(burst.local, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    if (p.has(router::kArp)) return;
    const bool tunnels = p.has(router::kTurnpike);
    if (!core_[p.input]) {
      const uint8_t* const ip = router::frame_of(burst.mbufs[i]) + p.l3;
      if (tunnels || is_core_address(ip, p.has(router::kIpv6)))
        return burst.drop(i, router::DropReason::kOutsideTunnel);
    }
    std::optional<TooBig> error;
    if (!tunnels && core_[p.input]) error = too_big_of(*burst.mbufs[i], p);
    const bool packet = tunnels && !p.has(router::kFragment);
    if (!packet && !error) return;
    const uint32_t flow = packet ? flow_of(burst.mbufs[i], p) : error->flow;
    if (const unsigned to = state_.flows.ids().lcore_of(flow); to != index_)
      return hand_over(burst, i, to, flow, context);
    // The router's own ICMP sees the message as well.
    if (error) return take_error(*error, burst.now);
    taken |= 1U << i;
    receive(burst.mbufs[i], burst.now);
  });
  burst.local &= ~taken;
  context.counters->delivered.add(static_cast<unsigned>(std::popcount(taken)));
}

bool Shard::is_core_address(const uint8_t* ip, bool ipv6) const {
  if (!ipv6)
    return std::ranges::count(core_ipv4_, wire::load_be32(ip + wire::kIpv4DestinationAt)) != 0;
  return std::ranges::any_of(core_ipv6_, [ip](const config::Ipv6& own) {
    return std::equal(own.begin(), own.end(), ip + wire::kIpv6DestinationAt);
  });
}

void Shard::receive(rte_mbuf* m, Nanos now) {
  ReceivedPacket arrival;
  // The parsers need one segment.
  bool good = m->nb_segs == 1 || rte_pktmbuf_linearize(m) == 0;
  auto* const frame = rte_pktmbuf_mtod(m, uint8_t*);
  const std::span<const uint8_t> bytes(frame, m->data_len);
  good = good && wire::locate_udp(bytes, arrival.at) == wire::FrameError::kNone;
  if (good && (m->ol_flags & kSumsChecked) != kSumsChecked)
    good = wire::verify_checksums(bytes, arrival.at) == wire::FrameError::kNone;
  const auto kind =
      good ? sender::read_packet(frame, topology_.run.udp_port, arrival) : sender::PacketKind::kBad;
  if (kind == sender::PacketKind::kBad || kind == sender::PacketKind::kForeign) {
    totals_.bad_packets.add();
  } else if (const size_t peer = peers_.sender_of(frame + arrival.at.ip, arrival.at.ipv6);
             peer == Peers::kNone) {
    totals_.unknown_peers.add();
  } else if (kind == sender::PacketKind::kAnswer) {
    take_answer(frame, arrival, now);
  } else if (take_request(*m, arrival, peer, now)) {
    return;
  }
  give_back(m);
}

// Opens the payload of a packet, once its token is known to be right.
class Shard::Opening final : public sender::PayloadCheck {
 public:
  Opening(Shard& shard, size_t peer, std::span<uint8_t> payload, const uint8_t* common,
          uint16_t source_port)
      : shard_(shard), peer_(peer), payload_(payload), common_(common), source_port_(source_port) {}

  bool authentic(uint64_t sequence) override {
    return shard_.accept(shard_.seal_->open(
        peer_, payload_, {.common = common_, .sequence = sequence, .source_port = source_port_}));
  }

 private:
  Shard& shard_;
  size_t peer_;
  std::span<uint8_t> payload_;
  const uint8_t* common_;
  uint16_t source_port_;
};

bool Shard::accept(Seal::Opened opened) {
  switch (opened) {
    case Seal::Opened::kAuthentic:
      return true;
    case Seal::Opened::kUnsealed:
      totals_.unsealed.add();
      return false;
    case Seal::Opened::kUnknownKey:
      totals_.unknown_keys.add();
      break;
    case Seal::Opened::kForged:
      break;
  }
  totals_.forged.add();
  return false;
}

// True: the buffer has gone.
bool Shard::take_request(rte_mbuf& m, const ReceivedPacket& arrival, size_t peer, Nanos now) {
  auto* const frame = rte_pktmbuf_mtod(&m, uint8_t*);
  const uint32_t headers = arrival.at.payload + uint32_t{arrival.header.length};
  const uint32_t size = arrival.at.payload_size - uint32_t{arrival.header.length};
  Opening opening(*this, peer, {frame + headers, size}, frame + arrival.at.payload,
                  wire::load_be16(frame + arrival.at.udp + wire::kUdpSourceAt));
  const sender::Request request{.header = arrival.header,
                                .protocol = *arrival.protocol,
                                .size = arrival.at.datagram,
                                .congestion = frame + arrival.at.payload + wire::kHeaderSize,
                                .empty = size == 0,
                                .check = seal_ ? &opening : nullptr};
  const auto answer = receiver_->receive(sender::flow_key(frame, arrival), request, now);
  if (!answer) return false;
  reply(frame, arrival, peer, *answer);
  if (!answer->fresh) return false;
  const uint8_t ecn = wire::ecn_of(frame + arrival.at.ip);
  const Released done = seal_ ? release(&m, headers + Seal::kFront, size - Seal::kOverhead, ecn,
                                        station_, pool_, released_, kOpened)
                              : release(&m, headers, size, ecn, station_, pool_, released_);
  totals_.released_packets.add(done.packets);
  totals_.released_bytes.add(done.bytes);
  totals_.ecn_drops.add(done.unmarkable);
  totals_.out_of_buffers.add(done.no_buffer);
  if (done.bad) totals_.bad_packets.add();
  return true;
}

// The packet's buffer goes on to a customer: the reply needs one of its own.
void Shard::reply(const uint8_t* frame, const ReceivedPacket& arrival, size_t peer,
                  const sender::Reply& answer) {
  rte_mbuf* const m = tx_.full() ? nullptr : take_buffer(pool_);
  if (m == nullptr) {
    totals_.out_of_buffers.add();
    return;
  }
  const uint32_t size = arrival.at.payload + uint32_t{arrival.header.length};
  std::memcpy(rte_pktmbuf_mtod(m, uint8_t*), frame, size);
  m->data_len = static_cast<uint16_t>(size);
  m->pkt_len = size;
  if (sender::write_reply(*m, arrival.at, arrival.header, answer, seal_ ? Seal::kOverhead : 0)) {
    if (!seal_ || authenticate(*m, arrival.at, peer)) return tx_.put(m);
    totals_.not_sealed.add();
  } else {
    totals_.out_of_buffers.add();
  }
  give_back(m);
}

bool Shard::authenticate(rte_mbuf& reply, const wire::UdpFrame& at, size_t peer) {
  auto* const frame = rte_pktmbuf_mtod(&reply, uint8_t*);
  const std::span bytes(frame + at.payload, reply.data_len - at.payload);
  const auto headers = bytes.first(bytes.size() - Seal::kOverhead);
  const auto payload = bytes.last(Seal::kOverhead);
  const uint16_t port = wire::load_be16(frame + at.udp + wire::kUdpDestinationAt);
  if (!seal_->seal(peer, payload, Seal::Answer{headers, port})) return false;
  sender::add_to_checksum(frame + at.udp, payload);
  return true;
}

// A wrong token costs no decryption: the flow's source refuses the answer.
bool Shard::authentic(uint8_t* frame, const ReceivedPacket& arrival, const sender::Flow& flow,
                      size_t peer) {
  const wire::Header& header = arrival.header;
  if (!seal_ || (header.kind != wire::Kind::kSynAck && header.token != flow.token)) return true;
  const std::span bytes(frame + arrival.at.payload, arrival.at.payload_size);
  const uint16_t port = wire::load_be16(frame + arrival.at.udp + wire::kUdpDestinationAt);
  return accept(seal_->open(peer, bytes.subspan(header.length),
                            Seal::Answer{bytes.first(header.length), port}));
}

void Shard::take_answer(uint8_t* frame, const ReceivedPacket& arrival, Nanos now) {
  sender::Flow* const flow = state_.flows.find(arrival.header.flow);
  if (flow == nullptr) {
    received_.unknown_flows.add();
    return;
  }
  auto& tunnel = static_cast<Tunnel&>(*flow->datagrams);
  if (!authentic(frame, arrival, *flow, tunnel.peer())) return;
  std::array<wire::SeqRange, wire::kMaxRanges> ranges;
  const sender::AckInfo answer = sender::ack_info(frame, arrival, ranges);
  const bool matched = customers_[flow->host]->source->on_answer(
      arrival.header.flow, answer, arrival.header.protocol,
      wire::load_be16(frame + arrival.at.udp + wire::kUdpDestinationAt), now);
  if (!matched) return;
  parts_.answers->note(index_, tunnel.peer(), now);
  if (peers_[tunnel.peer()].claim.flow == arrival.header.flow) [[unlikely]]
    check_claim(tunnel.peer(), answer);
  if (flow->stage == sender::Stage::kOpen && flow->backoff == 0)
    silent_[tunnel.peer()].store(false, std::memory_order_relaxed);
  after_event(*flow, tunnel, now);
}

Shard::Origin Shard::fill(Burst& burst, Nanos now) {
  const bool inner = released_.waiting() > 0;
  if (!inner && flows_port_.waiting() == 0) tx_.flush(now);
  PacketQueue& from = inner ? released_ : flows_port_;
  burst.begin(from.rx(now, std::span(burst.mbufs)), core_link_, now);
  if (burst.count == 0) return Origin::kNothing;
  if (inner) return Origin::kTunnel;
  for (unsigned i = 0; i < burst.count; ++i) describe(burst, i);
  return Origin::kGateway;
}

// Fills in what parse() finds, for a packet that this gateway has built.
void Shard::describe(Burst& burst, unsigned i) const {
  const rte_mbuf& m = *burst.mbufs[i];
  const uint8_t* const ip = rte_pktmbuf_mtod_offset(&m, const uint8_t*, wire::kEthernetSize);
  const bool ipv6 = ip[0] >> 4 == 6;
  const size_t ip_size = ipv6 ? wire::kIpv6Size : wire::kIpv4Size;
  const uint8_t* const header = ip + ip_size + wire::kUdpSize;
  const auto kind = static_cast<wire::Kind>(header[wire::kVersionKindAt] & 0x0f);
  const size_t udp = wire::kEthernetSize + ip_size;
  const size_t congestion = wire::is_request(kind) ? udp + wire::kUdpSize + wire::kHeaderSize : 0;
  uint16_t flags = router::kOriginated | router::kTurnpike;
  if (ipv6) flags |= router::kIpv6;
  if (kind == wire::Kind::kSyn) flags |= router::kOpens;
  burst.info[i] = {.l3 = wire::kEthernetSize,
                   .l4 = static_cast<uint16_t>(udp),
                   .congestion = static_cast<uint16_t>(congestion),
                   .datagram = static_cast<uint16_t>(m.pkt_len - wire::kEthernetSize),
                   .flags = flags,
                   .l4_protocol = wire::kProtocolUdp,
                   .protocol = header[wire::kProtocolAt],
                   .input = core_link_};
  if (ipv6) {
    burst.destinations6[i] = router::load_ipv6(ip + wire::kIpv6DestinationAt);
    burst.with_ipv6 |= 1U << i;
  } else {
    burst.destinations4[i] = wire::load_be32(ip + wire::kIpv4DestinationAt);
    burst.with_ipv4 |= 1U << i;
  }
}

void Shard::restrict(Burst& burst) {
  const auto refuse = [&](unsigned i) { burst.drop(i, router::DropReason::kTunnelExit); };
  router::for_each(burst.local | burst.multicast, refuse);
  router::for_each(burst.forward | burst.oversized | burst.unresolved, [&](unsigned i) {
    if (core_[burst.info[i].link]) refuse(i);
  });
}

}  // namespace turnpike::gateway
