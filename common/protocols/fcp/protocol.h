// SPDX-License-Identifier: BSD-3-Clause
// FCP's line in the registry.
#pragma once

#include <new>

#include "common/protocols/fcp/flow.h"
#include "common/protocols/fcp/link.h"
#include "common/protocols/registry.h"

namespace turnpike::fcp {

inline constexpr Protocol kProtocol{
    .name = "fcp",
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

}  // namespace turnpike::fcp
