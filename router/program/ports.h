// SPDX-License-Identifier: BSD-3-Clause
// A router's devices by its attachments in the topology file, and their memory.
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
  size_t port = 0;      // number of its port: links in VLANs of one port have the same
};

/// The device at each of the router's links. The error: a link without an attachment, or with one
/// that only the lab supports.
tl::expected<std::vector<LinkDevice>, std::string> link_devices(const config::Topology& topology,
                                                                size_t node, unsigned workers);

/// The attachments of the router's own ends, by link.
std::vector<const config::Attachment*> attachments(const config::Topology& topology, size_t node);

/// PCI addresses among the router's attachments, each once, for EAL.
std::vector<std::string> pci_addresses(const config::Topology& topology, size_t node);

/// Whether the router is a gateway; whether a tree has a branch there.
bool is_gateway(const config::Topology& topology, size_t node);
bool has_branches(const config::Topology& topology, size_t node);

/// Whether the router may send packets of several segments, or segments with other owners: those of
/// memif, fragments, copies on trees, packets of tunnels.
bool sends_chains(const config::Topology& topology, size_t node);

/// Packet buffers for the rings of a router's ports, its links' queues, and packets in processing.
struct Needs {
  uint32_t mbufs = 0;
  uint16_t data_room = 0;  // B
  unsigned memory_mb = 0;  // total of EAL, without hugepages
  unsigned beside_mb = 0;  // of tables in other memory
};
/// The needs of topology.routers[node] with this number of workers.
Needs needs_of(const config::Topology& topology, size_t node, unsigned workers);

}  // namespace turnpike::router
