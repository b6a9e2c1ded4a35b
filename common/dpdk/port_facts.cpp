// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/port_facts.h"

#include <array>
#include <memory>

#include <rte_ethdev.h>

#include "common/units/printable.h"

namespace turnpike {
namespace {

constexpr size_t kMaxText = 200;  // B of a text that a driver gives

std::string firmware_of(uint16_t port) {
  std::array<char, kMaxText> text{};
  // A positive answer: it was cut off.
  if (rte_eth_dev_fw_version_get(port, text.data(), text.size() - 1) < 0) return "";
  return printable(text.data(), kMaxText);
}

using BurstMode = int (*)(uint16_t port, uint16_t queue, rte_eth_burst_mode* mode);

std::string burst_of(uint16_t port, BurstMode ask) {
  const auto mode = std::make_unique<rte_eth_burst_mode>();  // 1 KB
  return ask(port, 0, mode.get()) == 0 ? printable(mode->info, kMaxText) : "";
}

}  // namespace

PortFacts read_port_facts(const Port& port, const std::string& root) {
  PortFacts facts{.device = port.name(),
                  .driver = port.driver(),
                  .firmware = firmware_of(port.id()),
                  .offloads = offloads_text(port.offloads()),
                  .rx_burst = burst_of(port.id(), rte_eth_rx_burst_mode_get),
                  .tx_burst = burst_of(port.id(), rte_eth_tx_burst_mode_get),
                  .queues = port.queues(),
                  .rx_descriptors = port.rx_descriptors(),
                  .tx_descriptors = port.tx_descriptors(),
                  .link_mbps = port.link_mbps(),
                  .pci = {}};
  rte_eth_dev_get_mtu(port.id(), &facts.mtu);
  if (port.physical()) facts.pci = read_pci_facts(port.name(), root);
  return facts;
}

std::vector<std::string> port_warnings(const PortFacts& facts) {
  std::vector<std::string> warnings;
  if (!facts.pci) return warnings;
  if (std::string slow = pcie_warning(*facts.pci); !slow.empty())
    warnings.push_back(std::move(slow));
  const PcieLink& pcie = facts.pci->link;
  if (pcie.known() && facts.link_mbps > 0 && pcie.gbps() * 1e3 < facts.link_mbps)
    warnings.push_back(facts.device + " has a link of " + std::to_string(facts.link_mbps) +
                       " Mbps, and PCI Express carries less: " + pcie.text() +
                       "; the port cannot reach its rate");
  return warnings;
}

}  // namespace turnpike
