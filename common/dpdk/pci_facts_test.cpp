// SPDX-License-Identifier: BSD-3-Clause
// Reads devices from made folders.
#include "common/dpdk/pci_facts.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/made_root.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAddress = "0000:3b:00.0";
constexpr const char* kIds =
    "# a comment\n"
    "15b3  Mellanox Technologies\n"
    "\t1592  another vendor's device of this id\n"
    "8086  Intel Corporation\n"
    "\t1521  I350 Gigabit Network Connection\n"
    "\t\t8086 1592  a subsystem, which is no device\n"
    "\t1592  Ethernet Controller E810-C for QSFP\n"
    "ffff  Illegal Vendor ID\n";

/// A machine with one NIC: an E810 in a slot that gives it all it can use.
class Made : public testing::MadeRoot {
 public:
  Made() {
    put(device + "/vendor", "0x8086\n");
    put(device + "/device", "0x1592\n");
    put(device + "/numa_node", "1\n");
    set_link("current", "16.0 GT/s PCIe", "16");
    set_link("max", "16.0 GT/s PCIe", "16");
    fs::create_symlink("../../../../bus/pci/drivers/vfio-pci", root + device + "/driver");
    put("/usr/share/misc/pci.ids", kIds);
  }

  void set_link(const std::string& which, const std::string& speed,
                const std::string& width) const {
    put(device + "/" + which + "_link_speed", speed + "\n");
    put(device + "/" + which + "_link_width", width + "\n");
  }
  [[nodiscard]] PciFacts facts() const { return read_pci_facts(kAddress, root); }

  std::string device = std::string("/sys/bus/pci/devices/") + kAddress;
};

TEST(PciFacts, OfANic) {
  const PciFacts f = Made().facts();
  EXPECT_EQ(f.address, kAddress);
  EXPECT_EQ(f.vendor, "8086");
  EXPECT_EQ(f.device, "1592");
  EXPECT_EQ(f.name, "Intel Corporation Ethernet Controller E810-C for QSFP");
  EXPECT_EQ(f.kernel_driver, "vfio-pci");
  EXPECT_EQ(f.link.gts, 16);
  EXPECT_EQ(f.link.width, 16U);
  EXPECT_EQ(f.numa_node, 1);
  EXPECT_EQ(pcie_warning(f), "");
}

TEST(PciFacts, RatesOfLinks) {
  const auto gbps = [](double gts, unsigned width) {
    return PcieLink{.gts = gts, .width = width}.gbps();
  };
  EXPECT_DOUBLE_EQ(gbps(2.5, 1), 2);
  EXPECT_DOUBLE_EQ(gbps(5, 8), 32);
  EXPECT_NEAR(gbps(8, 16), 126.03, 0.01);
  EXPECT_NEAR(gbps(16, 16), 252.06, 0.01);
  EXPECT_DOUBLE_EQ(gbps(64, 16), 1024);
  EXPECT_EQ((PcieLink{.gts = 8, .width = 16}.text()), "x16 at 8 GT/s, 126 Gbps");
  EXPECT_EQ(PcieLink().text(), "unknown");
}

TEST(PciFacts, WarnsOfALinkBelowItsMaximum) {
  const Made machine;
  machine.set_link("current", "16.0 GT/s PCIe", "8");
  const std::string narrow = pcie_warning(machine.facts());
  EXPECT_NE(narrow.find("0000:3b:00.0 has a PCI Express link of x8 at 16 GT/s"), std::string::npos);
  EXPECT_NE(narrow.find("the device supports x16 at 16 GT/s"), std::string::npos);
  machine.set_link("current", "8.0 GT/s PCIe", "16");
  EXPECT_NE(pcie_warning(machine.facts()).find("x16 at 8 GT/s"), std::string::npos);
  machine.set_link("current", "32.0 GT/s PCIe", "16");
  EXPECT_EQ(pcie_warning(machine.facts()), "") << "faster than the maximum is no fault";
}

TEST(PciFacts, UnknownLinksWarnOfNothing) {
  const Made machine;
  for (const auto& [speed, width] : {std::pair{"Unknown", "16"},
                                     {"Unknown speed", "0"},
                                     {"16.0 GT/s PCIe", "255"},
                                     {"16.0 GT/s PCIe", "63"},
                                     {"-", "\xff"},
                                     {"", ""}}) {
    machine.set_link("current", speed, width);
    EXPECT_FALSE(machine.facts().link.known()) << speed << ", " << width;
    EXPECT_EQ(pcie_warning(machine.facts()), "");
  }
}

TEST(PciFacts, OfADeviceWithoutFiles) {
  const PciFacts f = read_pci_facts("0000:00:00.0", Made().root);
  EXPECT_EQ(f.vendor + f.device + f.name + f.kernel_driver, "");
  EXPECT_FALSE(f.link.known());
  EXPECT_EQ(f.numa_node, -1);
}

TEST(PciFacts, NamesOfVendorsWithoutDevices) {
  const Made machine;
  machine.put(machine.device + "/device", "0x1593\n");
  EXPECT_EQ(machine.facts().name, "Intel Corporation");
  machine.put(machine.device + "/vendor", "0x1af4\n");
  EXPECT_EQ(machine.facts().name, "");
  fs::remove(machine.root + "/usr/share/misc/pci.ids");
  machine.put("/usr/share/hwdata/pci.ids", "1af4  Red Hat, Inc.\n\t1593  Virtio\xff network\n");
  EXPECT_EQ(machine.facts().name, "Red Hat, Inc. Virtio\\xff network")
      << "bytes that are no UTF-8 would make results invalid";
}

}  // namespace
}  // namespace turnpike
