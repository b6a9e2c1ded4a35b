// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/ingress/source_check.h"

#include "router/datapath/ingress/ip.h"
#include "router/datapath/lookup/address_batch.h"

namespace turnpike::router {

namespace {

bool passes(const NextHop& hop, config::SourceCheck check, uint16_t input, const Tables& tables) {
  using Action = NextHop::Action;
  // A subnet's addresses without a neighbour are on its link all the same.
  if (hop.action != Action::kForward && hop.action != Action::kNoNeighbour) return false;
  if (check == config::SourceCheck::kLoose || hop.link == input) return true;
  return check == config::SourceCheck::kFeasible && tables.feasible(hop, input);
}

}  // namespace

void check_sources(Burst& burst, config::SourceCheck check, const WorkerContext& context) {
  AddressBatch batch;
  for_each(burst.forward, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    const uint8_t* ip = frame_of(burst.mbufs[i]) + p.l3;
    if (!p.has(kIpv6)) return batch.add_ipv4(i, ip + wire::kIpv4SourceAt);
    const uint8_t* source = ip + wire::kIpv6SourceAt;
    if (!is_link_local(source) && !is_unspecified(source)) batch.add_ipv6(i, source);
  });
  const Tables& tables = *context.tables;
  batch.find<const NextHop*>(tables, [&](unsigned i, const NextHop* hop) {
    if (!passes(*hop, check, burst.input, tables)) burst.drop(i, DropReason::kSourceCheck);
  });
}

}  // namespace turnpike::router
