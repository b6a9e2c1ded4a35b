// SPDX-License-Identifier: BSD-3-Clause
// Ports: drivers and NUMA nodes of NICs, and kernel interfaces' MTU and offloads.
#include <algorithm>
#include <array>

#include <linux/ethtool.h>

#include "common/dpdk/pci_facts.h"
#include "operator/doctor/checks.h"

namespace turnpike::ops {
namespace {

// The first three give the device away to a program; the others share it with the kernel.
constexpr std::array<std::string_view, 7> kDrivers{
    "vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core", "mlx4_core", "mana", "uio_hv_generic"};

void check_pci(const Machine& m, const Wanted& w, const std::string& address, Findings& out) {
  const std::string device = "/sys/bus/pci/devices/" + address;
  if (!m.exists(device)) {
    out.push_back({"nic-missing", Severity::kStops, "there is no PCI device " + address,
                   "dpdk-devbind.py --status-dev net, and correct the file"});
    return;
  }
  const std::string driver = m.target(device + "/driver");
  if (std::ranges::find(kDrivers, driver) == kDrivers.end())
    out.push_back(
        {"nic-driver", Severity::kStops,
         address +
             (driver.empty() ? " has no driver" : " belongs to the kernel's driver " + driver) +
             ": DPDK cannot open it",
         "modprobe vfio-pci; dpdk-devbind.py -b vfio-pci " + address});
  if (driver == "vfio-pci" && m.target(device + "/iommu_group").empty() &&
      m.text("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode") != "Y")
    out.push_back({"iommu", Severity::kStops,
                   address + " is in no IOMMU group: vfio does not give it away",
                   "intel_iommu=on (or amd_iommu=on) iommu=pt on the kernel's command line; in a "
                   "virtual machine without one: echo Y > "
                   "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"});
  const PciFacts facts = read_pci_facts(address, m.root());
  if (!pcie_warning(facts).empty())
    out.push_back({"pcie-link", Severity::kHarms,
                   "the PCI Express link of " + address + " is " + facts.link.text() +
                       ", and the device supports " + facts.max_link.text() +
                       ": it may carry less than the port",
                   "another slot, with as many lanes wired to the CPU (dmidecode -t slot); the "
                   "firmware's setting of the link's speed"});
  const int64_t node = m.number(device + "/numa_node").value_or(-1);
  if (node < 0) return;
  const auto near =
      cpus_of(m.text("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist"));
  for (const unsigned c : w.lcores)
    if (!near.empty() && std::ranges::find(near, c) == near.end())
      out.push_back(
          {"numa", Severity::kHarms,
           "lcore " + std::to_string(c) + " is not on NUMA node " + std::to_string(node) +
               " of NIC " + address + ": each packet crosses the sockets' link",
           "choose lcores of node " + std::to_string(node) + " in the file: " +
               m.text("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist")});
}

void check_offload(const Machine& m, const Wanted::Interface& i, Findings& out) {
  if (!i.af_packet) return;
  const uint32_t flags = m.ethtool(i.name, ETHTOOL_GFLAGS).value_or(0);
  if ((flags & ETH_FLAG_LRO) != 0)
    out.push_back({"lro", Severity::kHarms,
                   i.name + " joins packets of a flow in hardware: link " + i.link +
                       " receives packets larger than its MTU, and drops them",
                   "ethtool -K " + i.name + " lro off"});
  if (m.ethtool(i.name, ETHTOOL_GGRO).value_or(0) != 0)
    out.push_back({"gro", Severity::kHarms,
                   i.name + " joins packets of a flow in the kernel: link " + i.link +
                       " receives packets larger than its MTU, and drops them",
                   "ethtool -K " + i.name + " gro off"});
}

// Those with native XDP and zero copy in Linux 6.1; with others packets are copied, and the driver
// may have no native XDP at all.
constexpr std::array<std::string_view, 9> kZeroCopy{"i40e",      "ice",    "ixgbe", "igc", "igb",
                                                    "mlx5_core", "stmmac", "ena",   "nfp"};

void check_driver(const Machine& m, const Wanted::Interface& i, Findings& out) {
  const auto driver = m.driver(i.name);
  if (!driver || i.af_packet || std::ranges::find(kZeroCopy, driver->name) != kZeroCopy.end())
    return;
  out.push_back({"xdp-driver", Severity::kNote,
                 "driver " + driver->name + " of " + i.name + " (version " + driver->version +
                     (driver->firmware.empty() ? "" : ", firmware " + driver->firmware) +
                     ") has no zero-copy XDP: link " + i.link + " copies each packet",
                 "ethtool -i " + i.name + "; a NIC with another driver, or attach by pci"});
}

void check_interface(const Machine& m, const Wanted::Interface& i, Findings& out) {
  const std::string folder = "/sys/class/net/" + i.name;
  if (!m.exists(folder)) {
    out.push_back({"interface-missing", Severity::kStops,
                   "there is no interface " + i.name + ", which link " + i.link + " is attached to",
                   "ip link show, and correct the file"});
    return;
  }
  const auto mtu = m.number(folder + "/mtu");
  if (mtu && *mtu != static_cast<int64_t>(i.mtu))
    out.push_back({"mtu", *mtu < static_cast<int64_t>(i.mtu) ? Severity::kStops : Severity::kNote,
                   i.name + " has MTU " + std::to_string(*mtu) + ", and link " + i.link + " has " +
                       std::to_string(i.mtu) +
                       (*mtu < static_cast<int64_t>(i.mtu) ? ": the router does not start" : ""),
                   "ip link set " + i.name + " mtu " + std::to_string(i.mtu)});
  if (m.text(folder + "/operstate") == "down")
    out.push_back({"interface-down", Severity::kHarms,
                   i.name + " is down: link " + i.link + " carries nothing",
                   "ip link set " + i.name + " up"});
  check_offload(m, i, out);
  check_driver(m, i, out);
  if (m.ethtool(i.name, ETHTOOL_GPAUSEPARAM).value_or(0) != 0)
    out.push_back({"pause", Severity::kNote,
                   i.name + " obeys or sends pause frames: a slow neighbour stops the link, whose "
                            "price then does not show the congestion",
                   "ethtool -A " + i.name + " rx off tx off"});
}

}  // namespace

void check_nics(const Machine& m, const Wanted& w, Findings& out) {
  for (const std::string& address : w.pci) check_pci(m, w, address, out);
  for (const Wanted::Interface& i : w.interfaces) check_interface(m, i, out);
}

}  // namespace turnpike::ops
