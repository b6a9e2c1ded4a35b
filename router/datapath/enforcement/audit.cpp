// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/audit.h"

#include "router/datapath/enforcement/enforcement.h"
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

void audit_payments(const Burst& burst, uint32_t members, const LinkQueue& queue,
                    WorkerContext& context) {
  const Audited audited = queue.audited();
  BalanceAudit* audit = queue.audit();
  Enforcement* enforcement = context.enforcement;
  const bool edge = enforcement != nullptr && enforcement->edge(burst.input);
  for_each(members, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    if (p.congestion == 0 || p.protocol != audited.protocol) return;
    const Charge c =
        audited.charge_of(frame_of(burst.mbufs[i]) + p.congestion, p.size, p.has(kOpens));
    if (c.charged <= 0) return;
    if (edge && p.customer != 0 && c.charged > c.paid)
      enforcement->debit(context.index, p.customer, c.charged - c.paid);
    if (audit != nullptr)
      audit->account(sender_of(burst, i), {c.paid, c.charged, p.size}, burst.now);
  });
}

}  // namespace turnpike::router
