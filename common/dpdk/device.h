// SPDX-License-Identifier: BSD-3-Clause
// The device under a port: a NIC or a virtual device, with its DPDK name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "common/dpdk/flow_control.h"

namespace turnpike {

/// A device before it is attached.
struct Device {
  std::string name;            // of the port in DPDK: net_memif0, 0000:03:00.0
  std::string arguments;       // name,key=value,...; empty: a PCI device, which EAL has probed
  std::string fix;             // usual remedy if attaching fails, for the error message
  std::string stale = {};      // socket file that this device creates; a crash may leave one
  unsigned keeps = 0;          // upper bound of packet buffers that its driver never frees
  bool follows = false;        // a memif client: connects to a server, which may come and go
  std::string interface = {};  // kernel interface that the port depends on; empty: none
  std::optional<FlowControl> flow_control = {};  // to set at the start; none: as the driver does
};

// The caller numbers virtual devices: in a process no two of one kind have the same number.

struct MemifOptions {
  std::string socket;  // a path, or @name in the abstract namespace
  uint32_t id = 0;     // the same at both ends
  bool server = false;
  std::array<uint8_t, 6> mac{};
  unsigned log2_ring = 10;  // packets per ring
};
/// One end of a memif connection to another process.
Device memif_device(unsigned number, const MemifOptions& options);

/// Devices on an existing kernel interface.
Device af_packet_device(unsigned number, const std::string& interface, unsigned queues);
Device af_xdp_device(unsigned number, const std::string& interface, unsigned queues);
/// A new kernel interface. `kernel_mac`: MAC of the kernel's side, the port's neighbour.
Device tap_device(unsigned number, const std::string& interface,
                  const std::array<uint8_t, 6>& kernel_mac);
/// Receives a capture, repeatedly with `repeat` (then from memory). Writes sent packets to
/// `tx_file`; frees them if it is empty.
Device pcap_device(unsigned number, const std::string& rx_file, const std::string& tx_file,
                   bool repeat, unsigned queues);
/// A NIC listed in EalOptions::pci.
Device pci_device(const std::string& address, std::optional<FlowControl> flow_control = {});
/// Any other device, by DPDK's own argument string.
Device other_device(const std::string& arguments);

/// Creates the device; returns its port id. The error has DPDK's reason and the remedy.
tl::expected<uint16_t, std::string> attach(const Device& device);

}  // namespace turnpike
