// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/ingress/source_check.h"

#include "router/datapath/ingress/ip.h"
#include "router/datapath/lookup/address_batch.h"

namespace turnpike::router {

namespace {

// Whether packets to the address would leave by a link. A subnet's addresses without a neighbour
// are on its link all the same.
bool has_link(const NextHop& hop) {
  using Action = NextHop::Action;
  return hop.action == Action::kForward || hop.action == Action::kNoNeighbour ||
         hop.action == Action::kPaths || hop.action == Action::kUnresolved;
}

bool passes(const NextHop& hop, config::SourceCheck check, uint16_t input,
            const WorkerContext& context) {
  if (!has_link(hop)) return false;
  if (check == config::SourceCheck::kLoose || context.routes->leaves_by(hop, input)) return true;
  return check == config::SourceCheck::kFeasible && context.tables->feasible(hop, input);
}

}  // namespace

void check_sources(Burst& burst, config::SourceCheck check, const WorkerContext& context) {
  const AddressBatch batch(
      burst, burst.forward, [](const uint8_t* ip) { return ip + wire::kIpv4SourceAt; },
      [](unsigned, const uint8_t* ip) -> const uint8_t* {
        const uint8_t* source = ip + wire::kIpv6SourceAt;
        return is_link_local(source) || is_unspecified(source) ? nullptr : source;
      });
  batch.find<const NextHop*>(*context.routes, [&](unsigned i, const NextHop* hop) {
    if (!passes(*hop, check, burst.input, context)) burst.drop(i, DropReason::kSourceCheck);
  });
}

}  // namespace turnpike::router
