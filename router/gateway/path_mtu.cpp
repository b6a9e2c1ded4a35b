// SPDX-License-Identifier: BSD-3-Clause
// The path MTU of tunnels: routers in the core say what is too big (RFC 1191, RFC 8201).
#include "common/wire/checksum.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/local/packet_sum.h"
#include "router/gateway/gateway.h"
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

}  // namespace

// The router's own ICMP sees the message as well.
void Gateway::take_error(const rte_mbuf& m, const router::PacketInfo& p, Nanos now) {
  const bool ipv6 = p.has(router::kIpv6);
  if (p.l4_protocol != (ipv6 ? router::kIcmp6 : router::kIcmp) || p.has(router::kFragment)) return;
  const auto length = static_cast<uint32_t>(p.datagram - (p.l4 - p.l3));
  if (m.nb_segs > 1 || p.l4 + length > m.data_len) return;
  const auto error =
      read_too_big({rte_pktmbuf_mtod_offset(&m, const uint8_t*, p.l4), length}, ipv6);
  if (!error || !checksum_holds(m, p, length)) return;
  const sender::Flow* const flow = lcore_.flows.find(error->flow);
  if (flow == nullptr || flow->stage != sender::Stage::kOpen || flow->token != error->token) {
    received_.forged_packets.add();
    return;
  }
  if (peers_.limit_mtu(flow->to, error->mtu, now)) totals_.mtu_reductions.add();
}

// A link of this router may be narrower than the one to which the MTU of tunnels belongs. Its ICMP
// errors would be for itself, and it sends none.
void Gateway::refused(const router::Burst& burst) {
  router::for_each(burst.dropped, [&](unsigned i) {
    const router::PacketInfo& p = burst.info[i];
    if (burst.reason[i] != router::DropReason::kTooBig || p.congestion == 0) return;
    const uint8_t* const header = router::frame_of(burst.mbufs[i]) + p.l4 + wire::kUdpSize;
    const sender::Flow* const flow = lcore_.flows.find(wire::load_be32(header + wire::kFlowAt));
    if (flow != nullptr && peers_.limit_mtu(flow->to, p.hop->mtu, burst.now))
      totals_.mtu_reductions.add();
  });
}

}  // namespace turnpike::gateway
