// SPDX-License-Identifier: BSD-3-Clause
// What a port stands on: a NIC or a virtual device, named as DPDK names it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace turnpike {

/// A device before it is attached.
struct Device {
  std::string name;        // of the port in DPDK: net_memif0, 0000:03:00.0
  std::string arguments;   // name,key=value,...; empty: a PCI device, which EAL has taken already
  std::string fix;         // what usually mends it where attaching fails, for the error message
  std::string stale = {};  // socket file that this device will create and a crash may have left
  unsigned keeps = 0;      // packet buffers, at most, that its driver does not give back at the end
  bool follows = false;    // a memif client: connects to a server that may come and go
  std::string interface = {};  // the kernel's under it, where the port depends on it; empty: none
};

// Virtual devices are numbered by the caller: no two of one kind share a number in a process.

struct MemifOptions {
  std::string socket;  // a path, or @name in the abstract namespace
  uint32_t id = 0;     // both ends say the same
  bool server = false;
  std::array<uint8_t, 6> mac{};
  unsigned log2_ring = 10;  // packets per ring
};
Device memif_device(unsigned number, const MemifOptions& options);

Device af_packet_device(unsigned number, const std::string& interface, unsigned queues);
Device af_xdp_device(unsigned number, const std::string& interface, unsigned queues);
/// A new kernel interface; `mac` is the kernel's side, the neighbour that the port talks to.
Device tap_device(unsigned number, const std::string& interface,
                  const std::array<uint8_t, 6>& kernel_mac);
/// Receives a capture, over and over with `repeat` (then from memory); an empty `tx_file` swallows
/// what is sent.
Device pcap_device(unsigned number, const std::string& rx_file, const std::string& tx_file,
                   bool repeat, unsigned queues);
/// A NIC that EalOptions::pci named.
Device pci_device(const std::string& address);
/// Anything else, by DPDK's own argument string.
Device other_device(const std::string& arguments);

/// Creates the device; returns its port number. The error carries DPDK's reason and the fix.
tl::expected<uint16_t, std::string> attach(const Device& device);

}  // namespace turnpike
