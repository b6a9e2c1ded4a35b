// SPDX-License-Identifier: BSD-3-Clause
// FCP's line in the registry.
#pragma once

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
    .make_link_law = make_link_law<Link>,
    .make_flow_law = make_flow_law<Flow>,
};

}  // namespace turnpike::fcp
