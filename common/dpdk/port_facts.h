// SPDX-License-Identifier: BSD-3-Clause
// Facts of a port for results and for `turnpike show ports`: its device, its queues, the functions
// that move its packets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/dpdk/pci_facts.h"
#include "common/dpdk/port.h"

namespace turnpike {

struct PortFacts {
  std::string device = {};    // DPDK's name
  std::string driver = {};    // DPDK's, such as net_ice
  std::string firmware = {};  // the device's version; empty: the driver tells none
  std::string offloads = {};  // that are on, see offloads_text()
  // The driver's functions; empty: it does not name them.
  std::string rx_burst = {}, tx_burst = {};
  uint16_t queues = 0;                              // of each direction
  uint16_t rx_descriptors = 0, tx_descriptors = 0;  // of each queue
  uint16_t mtu = 0;                                 // B of a datagram
  uint32_t link_mbps = 0;                           // 0: unknown, or the link is down
  std::optional<PciFacts> pci = {};                 // of a NIC
};

/// Reads files of sysfs and asks the device: not for the packet path. Call it before a sandbox
/// closes /sys, and after start(), which chooses the functions. `root`: see read_pci_facts().
PortFacts read_port_facts(const Port& port, const std::string& root = "");

/// Reasons why the port may be slower than its link, each with the way out.
std::vector<std::string> port_warnings(const PortFacts& facts);

}  // namespace turnpike
