// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/find_customers.h"

#include <rte_prefetch.h>

#include "router/datapath/enforcement/enforcement.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {
namespace {

/// Sets a packet's customer, and prefetches the account.
struct Setter {
  Setter(Burst& packets, const WorkerContext& context, bool edge)
      : burst(packets),
        accounts(edge ? context.enforcement->accounts(context.index) : nullptr),
        shared(edge && context.enforcement->shares()
                   ? &context.enforcement->shared(context.index, 0)
                   : nullptr) {}

  void operator()(unsigned i, uint64_t customer) const {
    burst.info[i].customer = static_cast<uint32_t>(customer);
    if (accounts != nullptr) rte_prefetch0(accounts + customer);
    if (shared != nullptr) rte_prefetch0(shared + customer);
  }

  Burst& burst;
  const CustomerAccount* accounts;
  const SharedAccount* shared;
};

}  // namespace

void seek_customers(Burst& burst, AddressBatch& sources, const WorkerContext& context, bool edge) {
  const CustomerTable& table = *context.customers;
  if (const uint32_t own = table.of_link(burst.input); own != 0) {
    const Setter set(burst, context, edge);
    for_each(burst.forward, [&](unsigned i) { set(i, own); });
    return;
  }
  sources.take(
      burst, burst.forward,
      [&](const uint8_t* ip) {
        const uint8_t* source = ip + wire::kIpv4SourceAt;
        table.prefetch(wire::load_be32(source));
        return source;
      },
      [](unsigned, const uint8_t* ip) { return ip + wire::kIpv6SourceAt; });
}

void find_customers(Burst& burst, AddressBatch& sources, const WorkerContext& context, bool edge) {
  sources.find<uint64_t>(*context.customers, Setter(burst, context, edge));
  sources.clear();
}

}  // namespace turnpike::router
