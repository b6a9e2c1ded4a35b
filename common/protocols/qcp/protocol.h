// SPDX-License-Identifier: BSD-3-Clause
// QCP's entries in the registry, one for each form of its header.
#pragma once

#include "common/protocols/coexistence/link.h"
#include "common/protocols/qcp/flow.h"
#include "common/protocols/qcp/link.h"
#include "common/protocols/registry.h"

namespace turnpike::qcp {

/// The packet's contribution to coexistence: a flow's window is its rate times its round trip.
inline coexistence::Told told(const uint8_t* header, uint32_t size) {
  const Header h = load(header);
  if (!credible(h) || h.common.rtt_ns == 0) return {};
  const double rtt = h.common.rtt_ns * 1e-9, flow = static_cast<double>(size) * h.interval;
  return {.flow = flow, .flow_window = rtt * size, .flow_rtt = rtt * flow};
}

inline std::unique_ptr<LinkLaw> make_link(const ParamValues& params, unsigned shards,
                                          uint64_t seed = 1) {
  return coexistence::beside_tcp(std::make_unique<Link>(params, shards, seed), told, params,
                                 kOwnLinkParamCount, shards, seed);
}

inline constexpr Protocol kProtocol{
    .name = "qcp",
    .id = kProtocolId,
    .header_size = kHeaderSize,
    .link_params = kLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = make_link,
    .make_flow_law = make_flow_law<Flow>,
};

inline constexpr Protocol kShortProtocol{
    .name = "qcp8",
    .id = kShortProtocolId,
    .header_size = kShortHeaderSize,
    .link_params = kShortLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = make_link_law<ShortLink>,
    .make_flow_law = make_flow_law<ShortFlow>,
};

}  // namespace turnpike::qcp
