// SPDX-License-Identifier: BSD-3-Clause
// Learns that a device goes away, such as a NIC that is unbound from vfio-pci or unplugged.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace turnpike {

/// Two sources: the bus, for devices under vfio-pci, whose removal the kernel delays until the
/// process has closed them; and the port's driver (RTE_ETH_EVENT_INTR_RMV), if it has
/// RTE_ETH_DEV_INTR_RMV, as those of NVIDIA's NICs do. Must keep its address.
class RemovalWatch {
 public:
  /// `device`: DPDK's name of it, such as its PCI address. `port`: its number, open until after the
  /// destructor.
  RemovalWatch(std::string device, uint16_t port);
  ~RemovalWatch();
  RemovalWatch(const RemovalWatch&) = delete;
  RemovalWatch& operator=(const RemovalWatch&) = delete;

  [[nodiscard]] bool removed() const { return removed_.load(std::memory_order_relaxed); }

 private:
  std::string device_;
  uint16_t port_;
  std::atomic<bool> removed_{false};  // DPDK's interrupt thread writes
};

}  // namespace turnpike
