// SPDX-License-Identifier: BSD-3-Clause
// Learns that the kernel takes a device back, such as a NIC that is unbound from vfio-pci.
#pragma once

#include <atomic>
#include <string>

namespace turnpike {

/// The kernel waits until the process has closed the device. Must keep its address.
class RemovalWatch {
 public:
  /// `device`: DPDK's name of it, such as its PCI address.
  explicit RemovalWatch(std::string device);
  ~RemovalWatch();
  RemovalWatch(const RemovalWatch&) = delete;
  RemovalWatch& operator=(const RemovalWatch&) = delete;

  [[nodiscard]] bool removed() const { return removed_.load(std::memory_order_relaxed); }

 private:
  std::string device_;
  std::atomic<bool> removed_{false};  // DPDK's interrupt thread writes
};

}  // namespace turnpike
