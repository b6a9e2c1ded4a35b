// SPDX-License-Identifier: BSD-3-Clause
// QCP's lines in the registry, one for each form of its header.
#pragma once

#include "common/protocols/qcp/flow.h"
#include "common/protocols/qcp/link.h"
#include "common/protocols/registry.h"

namespace turnpike::qcp {

inline constexpr Protocol kProtocol{
    .name = "qcp",
    .id = kProtocolId,
    .header_size = kHeaderSize,
    .link_params = kLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = make_link_law<Link>,
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
