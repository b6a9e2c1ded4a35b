// SPDX-License-Identifier: BSD-3-Clause
// From a router's attachments in the topology file to devices, and what they need of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/device.h"

namespace turnpike::router {

struct LinkDevice {
  Device device;
  uint16_t queues = 1;  // of each direction; one worker each
};

/// The device at each of the router's links. The error: nothing is attached there, or something
/// that only the lab can play.
tl::expected<std::vector<LinkDevice>, std::string> link_devices(const config::Topology& topology,
                                                                size_t node, unsigned workers);

/// PCI addresses among the router's attachments, for EAL.
std::vector<std::string> pci_addresses(const config::Topology& topology, size_t node);

/// Buffers for a router: what its ports' rings and its links' queues can hold, and some to work
/// with.
struct Needs {
  uint32_t mbufs = 0;
  uint16_t data_room = 0;  // B
  unsigned memory_mb = 0;  // all of EAL's, where there are no hugepages
};
Needs needs_of(const config::Topology& topology, size_t node, unsigned workers);

}  // namespace turnpike::router
