// SPDX-License-Identifier: BSD-3-Clause
// From a link end's attachment in the topology file to the device that DPDK opens.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/delay_line.h"
#include "common/dpdk/device.h"

namespace turnpike {

/// The device at `link.ends[end]`. `number` tells devices of one process apart; `queues` is how
/// many the device is asked for. The error: nothing is attached there, or something that only the
/// lab can play.
tl::expected<Device, std::string> device_at(const config::Link& link, size_t end, unsigned number,
                                            unsigned queues);

/// The link's length before the port at `link.ends[end]`: what leaves there is under way for the
/// link's delay and, with `arrivals`, so is what arrives. At most `buffers` packets at once. Null
/// where the link has no length to emulate.
std::unique_ptr<DelayLine> delay_line_at(QueuePair& port, const config::Link& link, size_t end,
                                         bool arrivals, size_t buffers);

/// Whether the device at this end has as many queues as it is asked for; the others have one.
bool multiqueue(const config::Attachment& attachment);

}  // namespace turnpike
