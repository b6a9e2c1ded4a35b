// SPDX-License-Identifier: BSD-3-Clause
// Maps a link end's attachment in the topology file to the device that DPDK opens.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/delay_line.h"
#include "common/dpdk/device.h"

namespace turnpike {

/// The device at `link.ends[end]`. `number`: unique among the devices of this process; `queues`:
/// number to ask the device for. Error: the end has no attachment, or one that only the lab
/// supports.
tl::expected<Device, std::string> device_at(const config::Link& link, size_t end, unsigned number,
                                            unsigned queues);

/// Makes the folder of the socket that the device at `link.ends[end]` needs. Error: see
/// prepare_socket_folder().
tl::expected<void, std::string> prepare_socket(const config::Link& link, size_t end);

/// The delay line before the port at `link.ends[end]`: delays sent packets by the link's delay and,
/// with `arrivals`, received packets too. Holds at most `buffers` packets. Null if there is no
/// delay to emulate.
std::unique_ptr<DelayLine> delay_line_at(QueuePair& port, const config::Link& link, size_t end,
                                         bool arrivals, size_t buffers);

/// Whether the device at this end supports several queues; other devices have one.
bool multiqueue(const config::Attachment& attachment);

}  // namespace turnpike
