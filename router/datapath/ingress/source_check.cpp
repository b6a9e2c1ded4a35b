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
  const AddressBatch batch(
      burst, burst.forward, [](const uint8_t* ip) { return ip + wire::kIpv4SourceAt; },
      [](unsigned, const uint8_t* ip) -> const uint8_t* {
        const uint8_t* source = ip + wire::kIpv6SourceAt;
        return is_link_local(source) || is_unspecified(source) ? nullptr : source;
      });
  const Tables& tables = *context.tables;
  batch.find<const NextHop*>(tables, [&](unsigned i, const NextHop* hop) {
    if (!passes(*hop, check, burst.input, tables)) burst.drop(i, DropReason::kSourceCheck);
  });
}

}  // namespace turnpike::router
