// SPDX-License-Identifier: BSD-3-Clause
// XCP's line in the registry.
#pragma once

#include <new>

#include "common/protocols/registry.h"
#include "common/protocols/xcp/flow.h"
#include "common/protocols/xcp/link.h"

namespace turnpike::xcp {

inline constexpr Protocol kProtocol{
    .name = "xcp",
    .id = kProtocolId,
    .header_size = kHeaderSize,
    .link_params = kLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = [](const ParamValues& params, unsigned shards) -> std::unique_ptr<LinkLaw> {
      return std::make_unique<Link>(params, shards);
    },
    .make_flow_law = [](const ParamValues& params, void* storage) -> FlowLaw* {
      static_assert(sizeof(Flow) <= FlowLaw::kMaxBytes);
      return new (storage) Flow(params);
    },
};

}  // namespace turnpike::xcp
