// SPDX-License-Identifier: BSD-3-Clause
// QFCP's entry in the registry.
#pragma once

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
    .make_link_law = make_link_law<Link>,
    .make_flow_law = make_flow_law<Flow>,
};

}  // namespace turnpike::qfcp
