// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/forward.h"

#include <type_traits>

#include "router/datapath/enforcement/audit.h"
#include "router/datapath/link/police.h"
#include "router/datapath/probe/trace.h"

namespace turnpike::router {
namespace {

/// Of the set `left`, the packets that leave by the same link as the first one.
[[gnu::always_inline]] inline LinkGroup first_group(const Burst& burst, uint32_t left) {
  const uint16_t link = burst.info[static_cast<unsigned>(std::countr_zero(left))].link;
  uint32_t others = 0;
  for_each_dense(left, [&](unsigned i) { others |= uint32_t{burst.info[i].link} ^ link; });
  LinkGroup group{.link = link, .members = left};
  if (others != 0)
    for_each(left,
             [&](unsigned i) { group.members &= ~(uint32_t{burst.info[i].link != link} << i); });
  return group;
}

/// `trace`: a Trace*, or nullptr_t for the code without one.
template <class TracePointer>
[[gnu::always_inline]] inline void forward_groups(Burst& burst, WorkerContext& context,
                                                  TracePointer trace) {
  constexpr bool kTraced = std::is_same_v<TracePointer, Trace*>;
  // One iteration per egress link of the burst: usually one or two.
  for (uint32_t left = burst.forward; left != 0;) {
    LinkGroup group = first_group(burst, left);
    left &= ~group.members;
    [[maybe_unused]] const uint32_t arrived = group.members;
    police(burst, group, context);
    if constexpr (kTraced) trace->after(TraceStage::kPolice, burst, arrived);
    LinkQueue& queue = context.queues[group.link];
    if (BalanceAudit* audit = queue.audit(); audit != nullptr) [[unlikely]]
      drop_blocked(burst, group, *audit);
    if constexpr (kTraced) trace->before_price(burst, group.members);
    const PricedGroup priced = queue.price(burst, group);
    if constexpr (kTraced) trace->after_price(burst, priced, queue);
    if (queue.audited().charges != nullptr) [[unlikely]]
      audit_payments(burst, priced.members & burst.forward, queue, context);
    queue.enqueue(burst, priced);
    if constexpr (kTraced) trace->after_enqueue(burst, priced.members);
  }
}

}  // namespace

void forward(Burst& burst, WorkerContext& context) { forward_groups(burst, context, nullptr); }

void forward(Burst& burst, WorkerContext& context, Trace& trace) {
  forward_groups(burst, context, &trace);
}

}  // namespace turnpike::router
