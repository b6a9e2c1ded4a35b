// SPDX-License-Identifier: BSD-3-Clause
// Machines in made folders.
#include "common/program/platform.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/made_root.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kCpus = "/sys/devices/system/cpu/";

TEST(Platform, FactsOfAMachine) {
  const testing::MadeRoot m;
  m.put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU: fast\nmodel name\t: another\n");
  m.put("/proc/cmdline",
        "BOOT_IMAGE=/vmlinuz root=UUID=1 isolcpus=managed_irq,2-3 hugepagesz=1G hugepages=8 quiet "
        "hugepagesz=2M hugepages=64 iommu=pt password=secret nosmt\n");
  m.put("/proc/sys/kernel/osrelease", "6.1.0-9-amd64\n");
  m.put(std::string(kCpus) + "cpu0/cpufreq/scaling_governor", "powersave\n");
  m.put(std::string(kCpus) + "cpu1/cpufreq/scaling_governor", "performance\n");
  m.put(std::string(kCpus) + "cpufreq/x", "");
  m.put(std::string(kCpus) + "smt/active", "0\n");
  m.put(std::string(kCpus) + "isolated", "2-3\n");
  m.put("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "8\n");
  m.put("/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "5\n");
  m.put("/sys/devices/system/node/online", "0-1\n");
  const Json all = machine_json(m.root);
  EXPECT_EQ(all["cpu"], "Some CPU: fast");
  EXPECT_EQ(all["cpus"], 2);
  EXPECT_EQ(all["numa_nodes"], "0-1");
  EXPECT_EQ(all["smt"], false);
  EXPECT_EQ(all["governors"], Json({"performance", "powersave"}));
  EXPECT_EQ(all["kernel"], "6.1.0-9-amd64");
  EXPECT_EQ(all["isolated"], "2-3");
  EXPECT_EQ(all["command_line"], Json({"isolcpus=managed_irq,2-3", "hugepagesz=1G", "hugepages=8",
                                       "hugepagesz=2M", "hugepages=64", "iommu=pt", "nosmt"}))
      << "in their order, and no other words, which may be secrets";
  EXPECT_EQ(all["hugepages"], Json({{"1048576 kB", {{"total", 8}, {"free", 5}}}}));
  EXPECT_FALSE(all.contains("bios"));
}

TEST(Platform, SaysNothingAboutWhatItCannotRead) {
  const testing::MadeRoot m;
  EXPECT_EQ(machine_json(m.root), Json({{"governors", Json::array()},
                                        {"command_line", Json::array()},
                                        {"hugepages", Json::object()}}));
  EXPECT_EQ(cpu_json(3, m.root), Json({{"lcore", 3}, {"numa_node", -1}, {"isolated", false}}));
}

TEST(Platform, FactsOfACpu) {
  const testing::MadeRoot m;
  m.put(std::string(kCpus) + "isolated", "2-5,12\n");
  m.put(std::string(kCpus) + "cpu12/topology/thread_siblings_list", "4,12\n");
  m.put(std::string(kCpus) + "cpu12/cpufreq/scaling_governor", "performance\n");
  fs::create_directories(m.root + kCpus + "cpu12/node1");
  EXPECT_EQ(cpu_json(12, m.root), Json({{"lcore", 12},
                                        {"numa_node", 1},
                                        {"siblings", "4,12"},
                                        {"governor", "performance"},
                                        {"isolated", true}}));
  EXPECT_EQ(cpu_json(1, m.root)["isolated"], false);
  EXPECT_EQ(cpu_json(4, m.root)["isolated"], true);
}

TEST(Platform, FactsOfAPort) {
  PortFacts f{.device = "0000:3b:00.0", .driver = "net_ice", .firmware = "4.40", .pci = PciFacts()};
  f.pci->address = f.device;
  f.pci->vendor = "8086";
  f.pci->device = "1592";
  f.pci->link = {.gts = 8, .width = 8};
  f.pci->max_link = {.gts = 16, .width = 16};
  f.link_mbps = 100'000;
  const Json all = port_json(f);
  EXPECT_EQ(all["firmware"], "4.40");
  EXPECT_EQ(all["pci"]["id"], "8086:1592");
  EXPECT_EQ(all["pci"]["link"]["width"], 8);
  EXPECT_EQ(all["pci"]["max_link"]["gts"], 16.0);
  EXPECT_EQ(all["warnings"].size(), 2U);
  EXPECT_FALSE(all.contains("rx_burst"));
  f.pci.reset();
  EXPECT_FALSE(port_json(f).contains("pci"));
  EXPECT_FALSE(port_json(f).contains("warnings"));
}

}  // namespace
}  // namespace turnpike
