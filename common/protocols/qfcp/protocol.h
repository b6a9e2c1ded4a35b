// SPDX-License-Identifier: BSD-3-Clause
// QFCP's line in the registry.
#pragma once

#include <new>

#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/qfcp/flow.h"
#include "common/protocols/qfcp/link.h"
#include "common/protocols/registry.h"

namespace turnpike::qfcp {

inline constexpr Protocol kProtocol{
    .name = "qfcp",
    .id = 3,
    .header_size = explicit_rate::kHeaderSize,
    .link_params = kLinkParams,
    .flow_params = {},
    .presets = kPresets,
    .make_link_law = [](const ParamValues& params, unsigned shards) -> std::unique_ptr<LinkLaw> {
      return std::make_unique<Link>(params, shards);
    },
    .make_flow_law = [](const ParamValues&, void* storage) -> FlowLaw* {
      static_assert(sizeof(Flow) <= FlowLaw::kMaxBytes);
      return new (storage) Flow;
    },
};

}  // namespace turnpike::qfcp
