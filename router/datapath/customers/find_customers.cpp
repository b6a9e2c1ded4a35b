// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/customers/find_customers.h"

#include <rte_prefetch.h>

#include "common/wire/bytes.h"
#include "router/datapath/customers/enforcement.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {

void find_customers(Burst& burst, const WorkerContext& context) {
  Enforcement& enforcement = *context.enforcement;
  const CustomerTable& table = enforcement.customers();
  const auto set = [&](unsigned i, uint64_t customer) {
    burst.info[i].customer = static_cast<uint32_t>(customer);
    rte_prefetch0(&enforcement.account(context.index, burst.info[i].customer));
  };
  if (const uint32_t own = table.of_link(burst.input); own != 0) {
    for_each(burst.forward, [&](unsigned i) { set(i, own); });
    return;
  }
  uint32_t ipv4[kBurst];
  config::Ipv6 ipv6[kBurst];
  uint8_t at4[kBurst], at6[kBurst];
  size_t n4 = 0, n6 = 0;
  for_each(burst.forward, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    const uint8_t* ip = frame_of(burst.mbufs[i]) + p.l3;
    if (!p.has(kIpv6)) {
      ipv4[n4] = wire::load_be32(ip + wire::kIpv4SourceAt);
      at4[n4++] = static_cast<uint8_t>(i);
    } else {
      ipv6[n6] = load_ipv6(ip + wire::kIpv6SourceAt);
      at6[n6++] = static_cast<uint8_t>(i);
    }
  });
  uint64_t found[kBurst];
  if (n4 > 0) {
    table.find(std::span<const uint32_t>(ipv4, n4), found);
    for (size_t k = 0; k < n4; ++k) set(at4[k], found[k]);
  }
  if (n6 > 0) {
    table.find(std::span<const config::Ipv6>(ipv6, n6), found);
    for (size_t k = 0; k < n6; ++k) set(at6[k], found[k]);
  }
}

}  // namespace turnpike::router
