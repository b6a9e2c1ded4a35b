// SPDX-License-Identifier: BSD-3-Clause
// TCP's line in the registry.
#pragma once

#include "common/protocols/aqm/params.h"
#include "common/protocols/registry.h"
#include "common/protocols/tcp/flow.h"
#include "common/protocols/tcp/header.h"
#include "common/protocols/tcp/link.h"
#include "common/protocols/tcp/params.h"

namespace turnpike::tcp {

inline constexpr Protocol kProtocol{
    .name = "tcp",
    .id = kProtocolId,
    .header_size = kHeaderSize,
    .end_to_end = true,
    .link_params = aqm::kLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = make_link,
    .make_flow_law = make_flow_law<Flow>,
};

}  // namespace turnpike::tcp
