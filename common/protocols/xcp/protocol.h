// SPDX-License-Identifier: BSD-3-Clause
// XCP's entry in the registry.
#pragma once

#include "common/protocols/coexistence/link.h"
#include "common/protocols/registry.h"
#include "common/protocols/xcp/flow.h"
#include "common/protocols/xcp/link.h"

namespace turnpike::xcp {

/// The packet's contribution to coexistence with TCP.
inline coexistence::Told told(const uint8_t* header, uint32_t size) {
  const Header h = load(header);
  if (!credible(h) || h.rtt_ns == 0) return {};
  const double rtt = h.rtt_ns * 1e-9;
  return {.flow = h.flow, .flow_window = rtt * size, .flow_rtt = rtt * h.flow};
}

inline std::unique_ptr<LinkLaw> make_link(const ParamValues& params, unsigned shards,
                                          uint64_t seed = 1) {
  return coexistence::beside_tcp(std::make_unique<Link>(params, shards), told, params,
                                 kOwnLinkParamCount, shards, seed);
}

inline constexpr Protocol kProtocol{
    .name = "xcp",
    .id = kProtocolId,
    .header_size = kHeaderSize,
    .link_params = kLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = make_link,
    .make_flow_law = make_flow_law<Flow>,
};

}  // namespace turnpike::xcp
