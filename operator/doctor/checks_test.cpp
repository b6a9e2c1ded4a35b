// SPDX-License-Identifier: BSD-3-Clause
// Each check on a machine in good order, and on one with a single fault.
#include "operator/doctor/checks.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include "tests/support/made_root.h"

namespace turnpike::ops {
namespace {

namespace fs = std::filesystem;

/// A machine of files, in good order until the test changes one.
class Made : public testing::MadeRoot {
 public:
  Made() {
    put("/proc/cpuinfo", "processor : 0\nflags : fpu constant_tsc nonstop_tsc\n");
    put("/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\n");
    put("/proc/mounts", "none /dev/hugepages hugetlbfs rw 0 0\n");
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/self/status", "Name: x\nCapEff:\t000001ffffffffff\n");
    put("/proc/self/limits", "Max locked memory         unlimited            unlimited   bytes\n");
    put("/proc/net/netlink", netlink(0));
    put("/proc/42/comm", "turnpike-router\n");
    put("/proc/43/comm", "sshd\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "512\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/sys/devices/system/cpu/isolated", "2-3\n");
    put("/sys/devices/system/cpu/nohz_full", "2-3\n");
    put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n");
    put("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3\n");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    put("/sys/devices/system/node/node0/cpulist", "0-3\n");
    put(nic + "/numa_node", "0\n");
    for (const char* which : {"current", "max"}) {
      put(nic + "/" + which + "_link_speed", "16.0 GT/s PCIe\n");
      put(nic + "/" + which + "_link_width", "16\n");
    }
    link(nic + "/driver", "../../drivers/vfio-pci");
    link(nic + "/iommu_group", "../../groups/7");
    put("/sys/class/net/eth0/mtu", "1500\n");
    put("/sys/class/net/eth0/operstate", "up\n");
    put("/dev/net/tun", "");
    wanted = {.lcores = {2, 3},
              .pci = {"0000:01:00.0"},
              .interfaces = {{.name = "eth0", .link = "left", .mtu = 1500, .af_packet = true},
                             {.name = "eth1", .link = "right", .mtu = 1500}},
              .tap = true,
              .linux_control = Wanted::Linux{.interfaces = {"left", "right"}, .neighbours = 512}};
    put("/sys/class/net/eth1/mtu", "1500\n");
    put("/sys/class/net/eth1/operstate", "up\n");
    put("/sys/class/net/eth0/flags", "0x1083\n");
    put("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "1\n");
    put("/proc/sys/net/core/rmem_max", "67108864\n");
    put("/proc/sys/net/ipv4/neigh/default/gc_thresh3", "1024\n");
    put("/proc/sys/net/ipv4/ip_forward", "0\n");
    put("/proc/sys/net/ipv4/conf/all/rp_filter", "0\n");
    put("/proc/sys/net/ipv4/conf/default/rp_filter", "2\n");
    put("/proc/net/arp", "IP address HW type\n10.0.0.1 0x1\n");
  }
  static std::string netlink(int drops) {
    return "sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode\n00 0 42 00000440 0 0 0 2 " +
           std::to_string(drops) + " 1\n00 0 43 00000440 0 0 0 2 9 1\n";
  }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories(fs::path(root + path).parent_path());
    fs::remove(root + path);
    fs::create_symlink(target, root + path);
  }
  void remove(const std::string& path) const { fs::remove_all(root + path); }

  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> checks;
    const Machine machine(
        root,
        [this](const std::string& name, uint32_t command) {
          return command == faulty && name == "eth0" ? std::optional<uint32_t>(value)
                                                     : std::optional<uint32_t>(0);
        },
        [this](const std::string&) {
          return Machine::Driver{.name = driver, .version = "6.1", .firmware = "1.2", .bus = ""};
        });
    for (const Finding& f : examine(machine, wanted)) {
      checks.push_back(f.check);
      EXPECT_FALSE(f.text.empty());
      EXPECT_FALSE(f.mend.empty()) << f.check;
    }
    return checks;
  }

  std::string nic = "/sys/bus/pci/devices/0000:01:00.0";
  Wanted wanted;
  std::string driver = "ice";      // of each interface
  uint32_t faulty = 0, value = 1;  // an ethtool command and its answer
};

struct Fault {
  const char* check;
  void (*make)(Made&);
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kAll{
      {"cpu-online", [](Made& m) { m.put("/sys/devices/system/cpu/online", "0-2\n"); }},
      {"cpu-isolated", [](Made& m) { m.put("/sys/devices/system/cpu/isolated", "3\n"); }},
      {"cpu-tick", [](Made& m) { m.put("/sys/devices/system/cpu/nohz_full", "\n"); }},
      {"cpu-siblings",
       [](Made& m) {
         m.put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3\n");
       }},
      {"cpu-governor",
       [](Made& m) {
         m.put("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
       }},
      {"clock-source",
       [](Made& m) {
         m.put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
       }},
      {"clock-tsc",
       [](Made& m) { m.put("/proc/cpuinfo", "processor : 0\nflags : fpu constant_tsc\n"); }},
      {"cpu-quota", [](Made& m) { m.put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"); }},
      {"hugepages",
       [](Made& m) { m.put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "10\n"); }},
      {"hugetlbfs", [](Made& m) { m.put("/proc/mounts", "proc /proc proc rw 0 0\n"); }},
      {"memory", [](Made& m) { m.put("/proc/meminfo", "MemAvailable: 200000 kB\n"); }},
      {"memlock",
       [](Made& m) {
         m.put("/proc/self/limits", "Max locked memory         65536    65536    bytes\n");
         m.put("/proc/self/status", "CapEff:\t000001ffffffbfff\n");  // without CAP_IPC_LOCK
       }},
      {"large-pages",
       [](Made& m) {
         m.put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
       }},
      {"nic-missing", [](Made& m) { m.remove(m.nic); }},
      {"nic-driver", [](Made& m) { m.link(m.nic + "/driver", "../../drivers/ixgbe"); }},
      {"iommu", [](Made& m) { m.remove(m.nic + "/iommu_group"); }},
      {"numa", [](Made& m) { m.put("/sys/devices/system/node/node0/cpulist", "0-2\n"); }},
      {"interface-missing", [](Made& m) { m.remove("/sys/class/net/eth0"); }},
      {"mtu", [](Made& m) { m.put("/sys/class/net/eth0/mtu", "1400\n"); }},
      {"interface-down", [](Made& m) { m.put("/sys/class/net/eth0/operstate", "down\n"); }},
      {"gro", [](Made& m) { m.faulty = ETHTOOL_GGRO; }},
      {"lro",
       [](Made& m) {
         m.faulty = ETHTOOL_GFLAGS;
         m.value = ETH_FLAG_LRO;
       }},
      {"port-arp", [](Made& m) { m.put("/sys/class/net/eth0/flags", "0x1003\n"); }},
      {"port-ipv6", [](Made& m) { m.put("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "0\n"); }},
      {"pause", [](Made& m) { m.faulty = ETHTOOL_GPAUSEPARAM; }},
      {"cap-net-raw", [](Made& m) { m.put("/proc/self/status", "CapEff:\t0000000000001000\n"); }},
      {"cap-net-admin", [](Made& m) { m.put("/proc/self/status", "CapEff:\t0000000000002000\n"); }},
      {"tun", [](Made& m) { m.remove("/dev/net/tun"); }},
      {"netlink-drops", [](Made& m) { m.put("/proc/net/netlink", Made::netlink(3)); }},
      {"cap-sys-admin",
       [](Made& m) {
         m.wanted.linux_control->elsewhere = true;
         m.put("/proc/self/status", "CapEff:\t0000000000003000\n");
       }},
      {"rmem-max", [](Made& m) { m.put("/proc/sys/net/core/rmem_max", "212992\n"); }},
      {"pcie-link", [](Made& m) { m.put(m.nic + "/current_link_width", "8\n"); }},
      {"gc-thresh", [](Made& m) { m.wanted.linux_control->neighbours = 1280; }},
      {"neighbour-table",
       [](Made& m) {
         std::string arp = "IP address HW type\n";
         for (int i = 0; i < 1000; ++i) arp += "10.0.0.1 0x1\n";
         m.put("/proc/net/arp", arp);
       }},
      {"ip-forward", [](Made& m) { m.put("/proc/sys/net/ipv4/ip_forward", "1\n"); }},
      {"ip-forward", [](Made& m) { m.wanted.linux_control->punt_ttl = true; }},
      {"rp-filter", [](Made& m) { m.put("/proc/sys/net/ipv4/conf/default/rp_filter", "1\n"); }},
      {"rp-filter", [](Made& m) { m.put("/proc/sys/net/ipv4/conf/right/rp_filter", "1\n"); }},
      {"xdp-driver", [](Made& m) { m.driver = "e1000e"; }},
      {"irqbalance", [](Made& m) { m.put("/proc/77/comm", "irqbalance\n"); }},
  };
  return kAll;
}

TEST(Doctor, FindsNothingOnAMachineInGoodOrder) {
  EXPECT_EQ(Made().found(), std::vector<std::string>());
}

TEST(Doctor, FindsEachFaultAndNothingElse) {
  for (const Fault& fault : faults()) {
    Made machine;
    fault.make(machine);
    EXPECT_EQ(machine.found(), std::vector<std::string>{fault.check});
  }
}

TEST(Doctor, AllowsALimitOfLockedMemoryToWhoMayExceedIt) {
  Made machine;
  machine.put("/proc/self/limits", "Max locked memory         65536    65536    bytes\n");
  EXPECT_EQ(machine.found(), std::vector<std::string>());
}

TEST(Doctor, SaysNothingAboutWhatItCannotRead) {
  Made machine;
  for (const char* folder : {"/proc", "/sys/devices", "/sys/kernel", "/sys/fs"})
    machine.remove(folder);
  machine.wanted = {};
  EXPECT_EQ(machine.found(), std::vector<std::string>());
}

TEST(Doctor, ReadsHostileFilesToTheirEnd) {
  Made machine;
  for (const char* path : {"/proc/net/netlink", "/proc/self/cgroup", "/proc/self/limits",
                           "/sys/devices/system/cpu/isolated"})
    machine.put(path, "0::\n0-99999999999,-,5-2,\xff\n" + std::string(500, '/') + "\n");
  EXPECT_FALSE(machine.found().empty());  // and it returns
}

TEST(Doctor, PutsWhatStopsBeforeWhatHarms) {
  Made machine;
  machine.put("/proc/meminfo", "MemAvailable: 200000 kB\n");
  machine.put("/sys/class/net/eth0/operstate", "down\n");
  EXPECT_EQ(machine.found(), (std::vector<std::string>{"memory", "interface-down"}));
}

}  // namespace
}  // namespace turnpike::ops
