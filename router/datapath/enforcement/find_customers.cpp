// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/find_customers.h"

#include <rte_prefetch.h>

#include "router/datapath/enforcement/enforcement.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/lookup/address_batch.h"

namespace turnpike::router {

void find_customers(Burst& burst, const WorkerContext& context, bool edge) {
  const CustomerTable& table = *context.customers;
  const auto set = [&](unsigned i, uint64_t customer) {
    burst.info[i].customer = static_cast<uint32_t>(customer);
    if (!edge) return;
    rte_prefetch0(&context.enforcement->account(context.index, burst.info[i].customer));
    rte_prefetch0(&context.enforcement->misbehaviour(context.index, burst.info[i].customer));
  };
  if (const uint32_t own = table.of_link(burst.input); own != 0) {
    for_each(burst.forward, [&](unsigned i) { set(i, own); });
    return;
  }
  const AddressBatch batch(
      burst, burst.forward, [](const uint8_t* ip) { return ip + wire::kIpv4SourceAt; },
      [](unsigned, const uint8_t* ip) { return ip + wire::kIpv6SourceAt; });
  batch.find<uint64_t>(table, set);
}

}  // namespace turnpike::router
