// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/find_customers.h"

#include <rte_prefetch.h>

#include "router/datapath/enforcement/enforcement.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/lookup/address_batch.h"

namespace turnpike::router {

void find_customers(Burst& burst, const WorkerContext& context) {
  Enforcement& enforcement = *context.enforcement;
  const CustomerTable& table = enforcement.customers();
  const auto set = [&](unsigned i, uint64_t customer) {
    burst.info[i].customer = static_cast<uint32_t>(customer);
    rte_prefetch0(&enforcement.account(context.index, burst.info[i].customer));
    rte_prefetch0(&enforcement.misbehaviour(context.index, burst.info[i].customer));
  };
  if (const uint32_t own = table.of_link(burst.input); own != 0) {
    for_each(burst.forward, [&](unsigned i) { set(i, own); });
    return;
  }
  AddressBatch batch;
  for_each(burst.forward, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    const uint8_t* ip = frame_of(burst.mbufs[i]) + p.l3;
    if (p.has(kIpv6)) {
      batch.add_ipv6(i, ip + wire::kIpv6SourceAt);
    } else {
      batch.add_ipv4(i, ip + wire::kIpv4SourceAt);
    }
  });
  batch.find<uint64_t>(table, set);
}

}  // namespace turnpike::router
