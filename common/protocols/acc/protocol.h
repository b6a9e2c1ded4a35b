// SPDX-License-Identifier: BSD-3-Clause
// Accumulation-based control's entry in the registry.
#pragma once

#include "common/protocols/acc/flow.h"
#include "common/protocols/acc/link.h"
#include "common/protocols/acc/receiver.h"
#include "common/protocols/registry.h"

namespace turnpike::acc {

inline constexpr Protocol kProtocol{
    .name = "acc",
    .id = kProtocolId,
    .header_size = kHeaderSize,
    .end_to_end = true,
    .link_params = kLinkParams,
    .flow_params = kFlowParams,
    .presets = kPresets,
    .make_link_law = make_link_law<Link>,
    .make_flow_law = make_flow_law<Flow>,
    .make_receiver_law = make_receiver_law<Receiver>,
};

}  // namespace turnpike::acc
