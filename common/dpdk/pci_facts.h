// SPDX-License-Identifier: BSD-3-Clause
// Facts of a PCI device, from sysfs and from the list of PCI ids.
#pragma once

#include <string>

namespace turnpike {

/// Speed and width of a PCI Express link, in each direction.
struct PcieLink {
  double gts = 0;      // GT/s of a lane; 0: unknown
  unsigned width = 0;  // lanes; 0: unknown

  [[nodiscard]] bool known() const { return gts > 0 && width > 0; }
  /// Bit rate in Gbit/s after the line code: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, none
  /// beyond (PCIE_SPEED2MBS_ENC in Linux' drivers/pci/pci.h). Headers of transactions, which are
  /// included, take a part of it.
  [[nodiscard]] double gbps() const;
  /// "x16 at 8 GT/s, 126 Gbps".
  [[nodiscard]] std::string text() const;
};

struct PciFacts {
  std::string address = {};              // 0000:3b:00.0
  std::string vendor = {}, device = {};  // ids, four hexadecimal digits
  std::string name = {};                 // of both, from the list of PCI ids; empty: unknown
  std::string kernel_driver = {};        // that it is bound to, such as vfio-pci; empty: none
  PcieLink link = {}, max_link = {};     // at present; the most that the device supports
  int numa_node = -1;                    // -1: unknown, or the machine has one
};

/// Reads `root`/sys/bus/pci/devices/`address` and pci.ids below `root`/usr/share. A file that is
/// missing, or has another form, leaves its fact unknown. `root`: "" is this machine.
PciFacts read_pci_facts(const std::string& address, const std::string& root = "");

/// A warning if the link is slower or narrower than the device supports, with the way out; empty:
/// it is not, or is unknown.
std::string pcie_warning(const PciFacts& facts);

}  // namespace turnpike
