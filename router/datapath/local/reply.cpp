// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/reply.h"

#include "router/datapath/ingress/segments.h"

namespace turnpike::router {

DropReason send_back(rte_mbuf& m, const PacketInfo& request, uint16_t datagram,
                     WorkerContext& context, LocalTx& out) {
  const Station& self = context.tables->stations()[request.input];
  NextHop hop{.action = NextHop::Action::kForward,
              .link = request.input,
              .mtu = self.mtu,
              .overhead = context.queues[request.input].overhead(),
              .macs = {.destination = {}, .source = self.mac}};
  if ((frame_of(&m)[6] & 1) != 0) return DropReason::kMartianSource;  // a group address
  std::memcpy(hop.macs.destination.data(), frame_of(&m) + 6, 6);
  PacketInfo p = request;
  p.datagram = datagram;
  if (m.pkt_len > uint32_t{p.l3} + datagram) cut_to(&m, uint32_t{p.l3} + datagram);
  send_by(m, p, hop, context, out);
  out.flush();
  return DropReason::kNone;
}

void send_by(rte_mbuf& m, PacketInfo p, const NextHop& hop, WorkerContext& context, LocalTx& out) {
  p.flags |= kOriginated;
  p.congestion = 0;
  set_hop(p, hop);
  context.counters->originated.add();
  out.add(&m, p);
}

rte_mbuf* make_frame(const rte_mbuf& request, const PacketInfo& p, uint16_t size,
                     WorkerContext& context) {
  rte_mbuf* m = rte_pktmbuf_alloc(context.pool);
  if (m == nullptr) return nullptr;
  if (rte_pktmbuf_append(m, size) == nullptr) {
    rte_pktmbuf_free(m);
    return nullptr;
  }
  std::memcpy(frame_of(m), rte_pktmbuf_mtod(&request, const uint8_t*), p.l3);
  return m;
}

}  // namespace turnpike::router
