// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/audit.h"

#include <array>

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
  ChargeBatch rows;
  std::array<uint8_t, kBurst> place;
  for_each(members, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    if (p.congestion == 0 || p.protocol != audited.protocol || p.has(kOpens)) return;
    place[rows.count] = static_cast<uint8_t>(i);
    rows.add(frame_of(burst.mbufs[i]) + p.congestion, p.size);
  });
  audited.charges->payments(rows);
  for (size_t k = 0; k < rows.count && edge; ++k) {
    const uint32_t customer = burst.info[place[k]].customer;
    if (rows.charged[k] > rows.paid[k] && customer != 0)
      enforcement->debit(context.index, customer, rows.charged[k] - rows.paid[k]);
  }
  if (audit == nullptr || !audit->account(rows, burst.now)) return;
  for (size_t k = 0; k < rows.count; ++k)
    if (rows.charged[k] > 0)
      audit->account(sender_of(burst, place[k]), rows.paid[k], rows.charged[k], burst.now);
}

}  // namespace turnpike::router
