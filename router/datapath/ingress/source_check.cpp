// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/ingress/source_check.h"

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {

namespace {

bool passes(const NextHop& hop, config::SourceCheck check, uint16_t input, const Tables& tables) {
  using Action = NextHop::Action;
  // A subnet's addresses without a neighbour are on its link all the same.
  if (hop.action != Action::kForward && hop.action != Action::kNoNeighbour) return false;
  if (check == config::SourceCheck::kLoose || hop.link == input) return true;
  return check == config::SourceCheck::kFeasible && tables.feasible(hop, input);
}

bool is_unspecified(const config::Ipv6& a) { return a == config::Ipv6{}; }

}  // namespace

void check_sources(Burst& burst, config::SourceCheck check, const WorkerContext& context) {
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
      return;
    }
    const config::Ipv6 source = load_ipv6(ip + wire::kIpv6SourceAt);
    if (is_link_local(source.data()) || is_unspecified(source)) return;
    ipv6[n6] = source;
    at6[n6++] = static_cast<uint8_t>(i);
  });
  const Tables& tables = *context.tables;
  const NextHop* hops[kBurst];
  const auto judge = [&](const uint8_t* at, size_t n) {
    for (size_t k = 0; k < n; ++k)
      if (!passes(*hops[k], check, burst.input, tables))
        burst.drop(at[k], DropReason::kSourceCheck);
  };
  if (n4 > 0) {
    tables.find(std::span<const uint32_t>(ipv4, n4), hops);
    judge(at4, n4);
  }
  if (n6 > 0) {
    tables.find(std::span<const config::Ipv6>(ipv6, n6), hops);
    judge(at6, n6);
  }
}

}  // namespace turnpike::router
