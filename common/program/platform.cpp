// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/platform.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <rte_cycles.h>
#include <rte_version.h>

#include "common/units/printable.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kMaxText = 300;  // B of a value
const std::string kCpus = "/sys/devices/system/cpu/";
// Parameters of the kernel that change how long a packet takes (Linux' kernel-parameters.txt).
constexpr std::array<std::string_view, 21> kParameters{"isolcpus",
                                                       "nohz_full",
                                                       "rcu_nocbs",
                                                       "irqaffinity",
                                                       "iommu",
                                                       "intel_iommu",
                                                       "amd_iommu",
                                                       "default_hugepagesz",
                                                       "hugepagesz",
                                                       "hugepages",
                                                       "intel_pstate",
                                                       "amd_pstate",
                                                       "idle",
                                                       "intel_idle.max_cstate",
                                                       "processor.max_cstate",
                                                       "pcie_aspm",
                                                       "mitigations",
                                                       "nosmt",
                                                       "tsc",
                                                       "nmi_watchdog",
                                                       "nosoftlockup"};

/// The first line of a file; "": there is none.
std::string line_of(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return printable(line, kMaxText);
}

void put(Json& out, const char* key, const std::string& text) {
  if (!text.empty()) out[key] = text;
}

std::string cpu_model(const std::string& root) {
  std::ifstream in(root + "/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (const size_t colon = line.find(": ");
        line.starts_with("model name") && colon != std::string::npos)
      return printable(line.substr(colon + 2), kMaxText);
  return "";
}

/// The folders cpu0, cpu1 and so on.
std::vector<fs::path> cpu_folders(const std::string& root) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(root + kCpus, failed)) {
    const std::string name = entry.path().filename();
    if (name.size() > 3 && name.starts_with("cpu") &&
        name.find_first_not_of("0123456789", 3) == std::string::npos)
      found.push_back(entry.path());
  }
  return found;
}

Json governors(const std::vector<fs::path>& cpus) {
  std::set<std::string> names;
  for (const fs::path& cpu : cpus)
    if (const std::string name = line_of(cpu / "cpufreq/scaling_governor"); !name.empty())
      names.insert(name);
  return names;
}

Json command_line(const std::string& root) {
  Json out = Json::array();
  std::ifstream in(root + "/proc/cmdline");
  for (std::string word; in >> word;)
    if (std::ranges::find(kParameters, word.substr(0, word.find('='))) != kParameters.end())
      out.push_back(printable(word, kMaxText));
  return out;
}

/// {"2048 kB": {"total": 512, "free": 400}}
Json hugepages(const std::string& root) {
  Json out = Json::object();
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(root + "/sys/kernel/mm/hugepages", failed)) {
    unsigned long kb = 0;
    unsigned total = 0, free = 0;
    if (std::sscanf(entry.path().filename().c_str(), "hugepages-%lukB", &kb) != 1) continue;
    std::istringstream(line_of(entry.path() / "nr_hugepages")) >> total;
    std::istringstream(line_of(entry.path() / "free_hugepages")) >> free;
    out[std::to_string(kb) + " kB"] = {{"total", total}, {"free", free}};
  }
  return out;
}

int node_of(const std::string& root, unsigned cpu) {
  std::error_code failed;
  for (const auto& entry :
       fs::directory_iterator(root + kCpus + "cpu" + std::to_string(cpu), failed)) {
    int node = 0;
    if (std::sscanf(entry.path().filename().c_str(), "node%d", &node) == 1) return node;
  }
  return -1;
}

/// Whether a list of the kernel, such as "0-3,8", has the CPU.
bool lists(const std::string& list, unsigned cpu) {
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    unsigned first = 0, last = 0;
    const int n = std::sscanf(part.c_str(), "%u-%u", &first, &last);
    if (n >= 1 && first <= cpu && cpu <= (n == 1 ? first : last)) return true;
  }
  return false;
}

Json pcie_json(const PcieLink& link) {
  if (!link.known()) return nullptr;
  return {{"gts", link.gts}, {"width", link.width}, {"gbps", link.gbps()}};
}

Json pci_json(const PciFacts& pci) {
  Json out{{"address", pci.address}};
  put(out, "id", pci.vendor.empty() ? "" : pci.vendor + ":" + pci.device);
  put(out, "name", pci.name);
  put(out, "kernel_driver", pci.kernel_driver);
  out["link"] = pcie_json(pci.link);
  out["max_link"] = pcie_json(pci.max_link);
  out["numa_node"] = pci.numa_node;
  return out;
}

}  // namespace

Json machine_json(const std::string& root) {
  Json out = Json::object();
  const auto cpus = cpu_folders(root);
  put(out, "cpu", cpu_model(root));
  if (!cpus.empty()) out["cpus"] = cpus.size();
  put(out, "numa_nodes", line_of(root + "/sys/devices/system/node/online"));
  if (const std::string smt = line_of(root + kCpus + "smt/active"); !smt.empty())
    out["smt"] = smt == "1";
  out["governors"] = governors(cpus);
  put(out, "product", line_of(root + "/sys/class/dmi/id/product_name"));
  put(out, "bios", line_of(root + "/sys/class/dmi/id/bios_version"));
  put(out, "kernel", line_of(root + "/proc/sys/kernel/osrelease"));
  out["command_line"] = command_line(root);
  put(out, "isolated", line_of(root + kCpus + "isolated"));
  put(out, "nohz_full", line_of(root + kCpus + "nohz_full"));
  out["hugepages"] = hugepages(root);
  return out;
}

Json cpu_json(unsigned cpu, const std::string& root) {
  const std::string folder = root + kCpus + "cpu" + std::to_string(cpu) + "/";
  Json out{{"lcore", cpu}, {"numa_node", node_of(root, cpu)}};
  put(out, "siblings", line_of(folder + "topology/thread_siblings_list"));
  put(out, "governor", line_of(folder + "cpufreq/scaling_governor"));
  out["isolated"] = lists(line_of(root + kCpus + "isolated"), cpu);
  return out;
}

Json port_json(const PortFacts& f) {
  Json out{{"device", f.device}, {"driver", f.driver}};
  put(out, "firmware", f.firmware);
  if (f.pci) out["pci"] = pci_json(*f.pci);
  out["link_mbps"] = f.link_mbps;
  out["mtu"] = f.mtu;
  out["queues"] = f.queues;
  out["rx_descriptors"] = f.rx_descriptors;
  out["tx_descriptors"] = f.tx_descriptors;
  out["offloads"] = f.offloads;
  put(out, "rx_burst", f.rx_burst);
  put(out, "tx_burst", f.tx_burst);
  if (const auto warnings = port_warnings(f); !warnings.empty()) out["warnings"] = warnings;
  return out;
}

Json platform_json(std::span<const unsigned> lcores) {
  Json cpus = Json::array();
  for (const unsigned cpu : lcores) cpus.push_back(cpu_json(cpu));
  return {{"dpdk", rte_version()},
          {"tsc_hz", rte_get_tsc_hz()},
          {"machine", machine_json()},
          {"lcores", std::move(cpus)}};
}

std::string platform_file(const std::string& program) { return "platform-" + program + ".json"; }

}  // namespace turnpike
