// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/pci_facts.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "common/units/printable.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxName = 200;        // B of a name in the list of PCI ids
constexpr unsigned kUnknownWidth = 63;  // PCI_EXP_LNKSTA_NLW >> 4: what a link that is off reports

/// The first line of a file; "": there is none.
std::string line_of(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// "0x8086" as "8086".
std::string id_of(const std::string& text) {
  std::string_view id = text;
  if (id.starts_with("0x")) id.remove_prefix(2);
  return id.size() == 4 ? std::string(id) : "";
}

template <class T>
T number_of(const std::string& text, T fallback) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : fallback;
}

PcieLink link_of(const std::string& folder, const std::string& which) {
  PcieLink link;
  // "8.0 GT/s PCIe"; "Unknown" where the device is no PCI Express device.
  const std::string speed = line_of(folder + "/" + which + "_link_speed");
  if (speed.find("GT/s") != std::string::npos) link.gts = number_of(speed, 0.0);
  link.width = number_of(line_of(folder + "/" + which + "_link_width"), 0U);
  if (link.width >= kUnknownWidth) link.width = 0;
  return link;
}

/// Names of a vendor and of its device in pci.ids: "8086  Intel Corporation", and below it lines
/// with a tab before the device's id. Empty: it has none of the two.
std::string name_in(std::istream& ids, const std::string& vendor, const std::string& device) {
  std::string name;
  const std::string of_vendor = vendor + "  ", of_device = "\t" + device + "  ";
  for (std::string line; std::getline(ids, line);) {
    if (name.empty()) {
      if (line.starts_with(of_vendor)) name = line.substr(of_vendor.size());
    } else if (line.starts_with(of_device)) {
      return name + " " + line.substr(of_device.size());
    } else if (!line.empty() && line[0] != '\t' && line[0] != '#') {
      break;  // the next vendor
    }
  }
  return name;
}

std::string name_of(const std::string& root, const std::string& vendor, const std::string& device) {
  if (vendor.empty() || device.empty()) return "";
  for (const char* path : {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"}) {
    std::ifstream ids(root + path);
    if (const std::string name = name_in(ids, vendor, device); !name.empty())
      return printable(name, kMaxName);
  }
  return "";
}

}  // namespace

double PcieLink::gbps() const {
  const double code = gts <= 5 ? 8.0 / 10 : gts <= 32 ? 128.0 / 130 : 1;
  return gts * width * code;
}

std::string PcieLink::text() const {
  if (!known()) return "unknown";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "x%u at %g GT/s, %.3g Gbps", width, gts, gbps());
  return text.data();
}

PciFacts read_pci_facts(const std::string& address, const std::string& root) {
  const std::string folder = root + "/sys/bus/pci/devices/" + address;
  PciFacts facts{.address = address};
  facts.vendor = id_of(line_of(folder + "/vendor"));
  facts.device = id_of(line_of(folder + "/device"));
  facts.name = name_of(root, facts.vendor, facts.device);
  std::error_code none;
  facts.kernel_driver = fs::read_symlink(folder + "/driver", none).filename();
  facts.link = link_of(folder, "current");
  facts.max_link = link_of(folder, "max");
  facts.numa_node = number_of(line_of(folder + "/numa_node"), -1);
  return facts;
}

std::string pcie_warning(const PciFacts& facts) {
  const PcieLink &now = facts.link, &most = facts.max_link;
  if (!now.known() || !most.known() || (now.gts >= most.gts && now.width >= most.width)) return "";
  return facts.address + " has a PCI Express link of " + now.text() + ", and the device supports " +
         most.text() +
         ": use a slot with that many lanes wired to the CPU (dmidecode -t slot), and set no lower "
         "speed in the firmware";
}

}  // namespace turnpike
