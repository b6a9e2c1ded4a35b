// SPDX-License-Identifier: BSD-3-Clause
// RCP's entry in the registry.
#pragma once

#include "common/protocols/explicit_rate/flow.h"
#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/rcp/link.h"
#include "common/protocols/registry.h"

namespace turnpike::rcp {

using explicit_rate::Flow;

inline constexpr Protocol kProtocol{
    .name = "rcp",
    .id = 2,
    .header_size = explicit_rate::kHeaderSize,
    .link_params = kLinkParams,
    .flow_params = {},
    .presets = kPresets,
    .make_link_law = make_link_law<Link>,
    .make_flow_law = make_flow_law<Flow>,
};

}  // namespace turnpike::rcp
