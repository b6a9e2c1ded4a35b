// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/fragment.h"

#include <rte_ip_frag.h>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/local/reply.h"

namespace turnpike::router {

namespace {
constexpr uint16_t kMaxFragments = 128;  // a 64 KB datagram at the smallest common MTU of 576 B
constexpr uint16_t kMinMtu = 68;         // RFC 791: the least MTU of any link
}  // namespace

DropReason fragment(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out) {
  if (p.hop->mtu < kMinMtu) return DropReason::kFragmentFailed;
  uint8_t ethernet[wire::kEthernetSize + wire::kVlanSize];
  std::memcpy(ethernet, frame_of(&m), p.l3);
  rte_pktmbuf_adj(&m, p.l3);
  rte_mbuf* pieces[kMaxFragments];
  const int n =
      rte_ipv4_fragment_packet(&m, pieces, kMaxFragments, p.hop->mtu, context.pool, context.pool);
  if (n <= 0) {
    std::memcpy(rte_pktmbuf_prepend(&m, p.l3), ethernet, p.l3);  // the original Ethernet header
    return n == -ENOMEM ? DropReason::kNoMbuf : DropReason::kFragmentFailed;
  }
  rte_pktmbuf_free(&m);  // the fragments keep references to its data

  context.counters->originated.add(static_cast<uint64_t>(n) - 1);
  for (int k = 0; k < n; ++k) {
    rte_mbuf* piece = pieces[k];
    PacketInfo info = p;
    info.congestion = 0;
    info.flags |= kFragment;
    info.datagram = static_cast<uint16_t>(piece->pkt_len);
    uint8_t* ip = rte_pktmbuf_mtod(piece, uint8_t*);
    const size_t header = (ip[0] & 0x0fU) * 4;
    wire::store_be16(ip + wire::kIpv4ChecksumAt, 0);
    wire::store_be16(ip + wire::kIpv4ChecksumAt, wire::checksum_of(wire::sum_words({ip, header})));
    std::memcpy(rte_pktmbuf_prepend(piece, p.l3), ethernet, p.l3);
    set_hop(info, *p.hop);
    out.add(piece, info);
  }
  return DropReason::kNone;
}

}  // namespace turnpike::router
