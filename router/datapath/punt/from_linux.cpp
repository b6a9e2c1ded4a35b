// SPDX-License-Identifier: BSD-3-Clause
// Frames that Linux sends, and packets that have waited for their neighbours.
#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/local/local_tx.h"
#include "router/datapath/lookup/flow_hash.h"
#include "router/datapath/lookup/lookup.h"
#include "router/datapath/punt/punt.h"

namespace turnpike::router {

namespace {

/// Finds the IP header that a link's law and classes read. A frame without one, or with one cut
/// short, counts as ARP, which belongs to no flow.
PacketInfo info_of(const rte_mbuf& m) {
  const uint8_t* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
  PacketInfo p{.l3 = wire::kEthernetSize, .flags = kOriginated, .input = m.port};
  uint16_t type = wire::load_be16(frame + wire::kEtherTypeAt);
  if (type == wire::kEtherTypeVlan && m.data_len >= wire::kEthernetSize + wire::kVlanSize) {
    type = wire::load_be16(frame + wire::kEtherTypeAt + wire::kVlanSize);
    p.l3 += wire::kVlanSize;
    p.flags |= kVlan;
  }
  p.datagram = static_cast<uint16_t>(std::min<uint32_t>(m.pkt_len - p.l3, UINT16_MAX));
  const uint8_t* ip = frame + p.l3;
  if (type == wire::kEtherTypeIpv4 && m.data_len >= p.l3 + wire::kIpv4Size && ip[0] >> 4 == 4) {
    p.l4_protocol = ip[wire::kIpv4ProtocolAt];
  } else if (type == wire::kEtherTypeIpv6 && m.data_len >= p.l3 + wire::kIpv6Size &&
             ip[0] >> 4 == 6) {
    p.flags |= kIpv6;
    p.l4_protocol = ip[wire::kIpv6NextHeaderAt];
  } else {
    p.flags |= kArp;
  }
  return p;
}

/// The next hop at present of a packet that waits, by its flow where there are several paths.
const NextHop& next_hop_of(const NeighbourQueue::Waiting& w, const Routes& routes) {
  const NextHop* hop = nullptr;
  if (w.info.has(kIpv6)) {
    routes.find(std::span(&w.destination, 1), &hop);
  } else {
    const uint32_t to = wire::load_be32(w.destination.data() + 12);
    routes.find(std::span(&to, 1), &hop);
  }
  if (hop->action != NextHop::Action::kPaths) return *hop;
  return routes.choose(*hop, flow_hash(*w.mbuf, w.info, routes.seed()));
}

}  // namespace

bool send_from_linux(WorkerContext& context, Nanos now) {
  std::array<rte_mbuf*, kBurst> frames;
  const unsigned n = context.punt->shard(context.index).from_linux->pop(frames);
  if (n == 0) return false;
  context.counters->originated.add(n);
  std::array<NextHop, kBurst> hops;  // as long as `out`
  LocalTx out(context, now);
  for (unsigned i = 0; i < n; ++i) {
    rte_mbuf& m = *frames[i];
    PacketInfo p = info_of(m);
    const uint16_t mtu = context.tables->stations()[p.input].mtu;
    if (p.datagram > mtu) {
      context.queues[p.input].drop(DropReason::kTooBig);
      rte_pktmbuf_free(&m);
      continue;
    }
    hops[i] = {.action = NextHop::Action::kForward,
               .link = p.input,
               .mtu = mtu,
               .overhead = context.queues[p.input].overhead()};
    std::memcpy(&hops[i].macs, frame_of(&m), sizeof hops[i].macs);
    set_hop(p, hops[i]);
    out.add(&m, p);
  }
  return true;
}

void take_waiting(Burst& burst, WorkerContext& context, Nanos now) {
  NeighbourQueue& waiting = *context.punt->shard(context.index).waiting;
  burst.begin(0, 0, now);
  bool closed = false;
  waiting.update(now, [&](const NeighbourQueue::Waiting& w) {
    if (closed) return false;
    const NextHop& hop = next_hop_of(w, *context.routes);
    const bool resolved = hop.action != NextHop::Action::kUnresolved;
    if (!resolved && !NeighbourQueue::expired(w, now)) return false;
    closed = burst.count == kBurst || (burst.count > 0 && w.info.input != burst.input);
    if (closed) return false;
    const unsigned i = burst.count++;
    burst.input = w.info.input;
    burst.mbufs[i] = w.mbuf;
    burst.info[i] = w.info;
    burst.info[i].customer = 0;
    if (resolved) {
      burst.forward |= uint32_t{1} << i;
    } else {
      burst.drop(i, DropReason::kNoNeighbour);
    }
    return true;
  });
  if (closed) waiting.hurry(now);
}

void discard_waiting(WorkerContext& context) {
  PuntShard& shard = context.punt->shard(context.index);
  shard.waiting->update(Nanos(0), [&](const NeighbourQueue::Waiting& w) {
    context.queues[w.info.link].drop(DropReason::kShutdown);
    rte_pktmbuf_free(w.mbuf);
    return true;
  });
}

}  // namespace turnpike::router
