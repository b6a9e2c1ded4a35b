// SPDX-License-Identifier: BSD-3-Clause
// From a link end's attachment in the topology file to the device that DPDK opens.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/device.h"

namespace turnpike {

/// The device at `link.ends[end]`. `number` tells devices of one process apart; `queues` is how
/// many the device is asked for. The error: nothing is attached there, or something that only the
/// lab can play.
tl::expected<Device, std::string> device_at(const config::Link& link, size_t end, unsigned number,
                                            unsigned queues);

/// Whether the device at this end has as many queues as it is asked for; the others have one.
bool multiqueue(const config::Attachment& attachment);

}  // namespace turnpike
