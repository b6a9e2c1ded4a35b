// SPDX-License-Identifier: BSD-3-Clause
// XCP's line in the registry.
#pragma once

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
    .make_link_law = make_link_law<Link>,
    .make_flow_law = make_flow_law<Flow>,
};

}  // namespace turnpike::xcp
