// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/local/local_input.h"

#include "router/datapath/ingress/ip.h"
#include "router/datapath/local/arp.h"
#include "router/datapath/local/fragment.h"
#include "router/datapath/local/icmp.h"
#include "router/datapath/local/icmp6.h"
#include "router/datapath/local/neighbour.h"

namespace turnpike::router {

namespace {

DropReason receive_ipv6(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out) {
  if (p.has(kFragment)) return DropReason::kLocalFragment;
  if (p.l4_protocol == wire::kProtocolUdp) return DropReason::kPortUnreachable;
  if (p.l4_protocol != kIcmp6) return DropReason::kProtocolUnreachable;
  if (!valid_icmp6(m, p)) return DropReason::kBadIcmp;
  const uint8_t type = frame_of(&m)[p.l4];
  if (type >= kMinNdType && type <= kMaxNdType) return answer_neighbour(m, p, context, out);
  return answer_echo6(m, p, context, out);
}

DropReason receive_ipv4(rte_mbuf& m, const PacketInfo& p, WorkerContext& context, LocalTx& out) {
  if (p.has(kFragment)) return DropReason::kLocalFragment;
  if (p.l4_protocol == wire::kProtocolUdp) return DropReason::kPortUnreachable;
  if (p.l4_protocol != kIcmp) return DropReason::kProtocolUnreachable;
  return answer_echo(m, p, context, out);
}

}  // namespace

void local_input(Burst& burst, WorkerContext& context) {
  LocalTx out(context, burst.now);
  for_each(burst.local, [&](unsigned i) {
    rte_mbuf& m = *burst.mbufs[i];
    const PacketInfo& p = burst.info[i];
    const DropReason why = p.has(kArp)    ? answer_arp(m, p, context, out)
                           : p.has(kIpv6) ? receive_ipv6(m, p, context, out)
                                          : receive_ipv4(m, p, context, out);
    if (why != DropReason::kNone) return burst.drop(i, why);
    context.counters->delivered.add();
    burst.leave(i);
  });
  for_each(burst.oversized, [&](unsigned i) {
    const DropReason why = fragment(*burst.mbufs[i], burst.info[i], context, out);
    if (why != DropReason::kNone) return burst.drop(i, why);
    burst.leave(i);
  });
  // Those that nothing has asked to resolve.
  for_each(burst.unresolved, [&](unsigned i) { burst.drop(i, DropReason::kNoNeighbour); });
  for_each(burst.dropped, [&](unsigned i) {
    const rte_mbuf& m = *burst.mbufs[i];
    const PacketInfo& p = burst.info[i];
    if (p.has(kIpv6)) {
      report_error6(m, p, burst.reason[i], context, out, burst.now);
    } else {
      report_error(m, p, burst.reason[i], context, out, burst.now);
    }
  });
}

}  // namespace turnpike::router
