// SPDX-License-Identifier: BSD-3-Clause
// FCP's entry in the registry.
#pragma once

#include "common/protocols/fcp/charge.h"
#include "common/protocols/fcp/cheating_flow.h"
#include "common/protocols/fcp/classes/link.h"
#include "common/protocols/fcp/flow.h"
#include "common/protocols/fcp/link.h"
#include "common/protocols/fcp/reserve_flow.h"
#include "common/protocols/fcp/reserve_link.h"
#include "common/protocols/registry.h"

namespace turnpike::fcp {

inline std::unique_ptr<LinkLaw> make_link(const ParamValues& params, unsigned shards,
                                          uint64_t seed) {
  return static_cast<Pricing>(params[kPricing]) == Pricing::kClearing
             ? make_link_law<ReserveLink>(params, shards, seed)
             : make_link_law<Link>(params, shards, seed);
}
inline std::unique_ptr<ClassLaw> make_class_law(const ParamValues& params, unsigned shards,
                                                uint64_t seed) {
  if (static_cast<Pricing>(params[kPricing]) == Pricing::kClearing)
    return std::make_unique<ReserveLink>(params, shards, seed);
  return std::make_unique<Link>(params, shards, seed);
}
inline std::unique_ptr<LinkLaw> make_classed_link(const ParamValues& params,
                                                  std::span<const ClassRule> rules, unsigned shards,
                                                  uint64_t seed) {
  return std::make_unique<ClassedLink>(make_class_law, params, rules, shards, seed);
}
inline FlowLaw* make_honest_flow(const ParamValues& params, void* storage) {
  return static_cast<Promising>(params[kPromising]) == Promising::kReserve
             ? make_flow_law<ReserveFlow>(params, storage)
             : make_flow_law<Flow>(params, storage);
}
inline bool cheats(const ParamValues& params) { return lies_in(params, kFirstLie) != 0; }
inline FlowLaw* make_flow(const ParamValues& params, void* storage) {
  static_assert(sizeof(CheatingFlow) <= FlowLaw::kMaxBytes);
  return cheats(params) ? new (storage) CheatingFlow(params, kFirstLie, make_honest_flow)
                        : make_honest_flow(params, storage);
}

inline constexpr Protocol kProtocol{
    .name = "fcp",
    .id = kProtocolId,
    .header_size = kHeaderSize,
    .link_params = kLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = make_link,
    .make_flow_law = make_flow,
    .cheats = cheats,
    .charge = &kChargeReader,
    .exchange_at = kExchangeOffset,
    .make_classed_law = make_classed_link,
};

}  // namespace turnpike::fcp
