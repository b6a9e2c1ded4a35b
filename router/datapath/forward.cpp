// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/forward.h"

#include "router/datapath/enforcement/audit.h"
#include "router/datapath/link/police.h"

namespace turnpike::router {

void forward(Burst& burst, WorkerContext& context) {
  // One iteration per egress link of the burst: usually one or two.
  for (uint32_t left = burst.forward; left != 0;) {
    LinkGroup group;
    group.link = burst.info[static_cast<unsigned>(std::countr_zero(left))].link;
    for_each(left,
             [&](unsigned i) { group.members |= uint32_t{burst.info[i].link == group.link} << i; });
    left &= ~group.members;
    police(burst, group, context);
    LinkQueue& queue = context.queues[group.link];
    if (BalanceAudit* audit = queue.audit(); audit != nullptr) [[unlikely]]
      drop_blocked(burst, group, *audit);
    const PricedGroup priced = queue.price(burst, group);
    if (queue.audited().charge_of != nullptr) [[unlikely]]
      audit_payments(burst, priced.members & burst.forward, queue, context);
    queue.enqueue(burst, priced);
  }
}

}  // namespace turnpike::router
