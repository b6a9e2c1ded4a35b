// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/police/audit.h"

#include "common/protocols/registry.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {
namespace {

BalanceAudit::Address sender_of(const Burst& burst, unsigned i) {
  const PacketInfo& p = burst.info[i];
  return source_of(frame_of(burst.mbufs[i]) + p.l3, p.has(kIpv6));
}

}  // namespace

void drop_blocked(Burst& burst, LinkGroup& group, BalanceAudit& audit) {
  if (!audit.blocks(burst.now)) [[likely]]
    return;
  for_each(group.members, [&](unsigned i) {
    if (burst.info[i].congestion == 0 || !audit.blocked(sender_of(burst, i), burst.now)) return;
    burst.drop(i, DropReason::kUnpaid);
    group.members &= ~(uint32_t{1} << i);
  });
}

void audit_payments(const Burst& burst, uint32_t members, BalanceAudit& audit) {
  for_each(members, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    if (p.congestion == 0) return;
    const Protocol* protocol = find_protocol(p.protocol);
    if (protocol == nullptr || protocol->payment == nullptr) return;
    const Payment payment = protocol->payment(frame_of(burst.mbufs[i]) + p.congestion);
    if (payment.charged > 0)
      audit.account(sender_of(burst, i), {payment.paid, payment.charged, p.size}, burst.now);
  });
}

}  // namespace turnpike::router
