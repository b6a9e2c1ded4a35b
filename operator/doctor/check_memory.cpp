// SPDX-License-Identifier: BSD-3-Clause
// Memory: hugepages, limits of the control group and of locked memory, large pages of the heap.
#include <sstream>

#include <linux/capability.h>

#include "common/program/machine_memory.h"
#include "operator/doctor/checks.h"

namespace turnpike::ops {
namespace {

constexpr int64_t kMin = 512;  // MB: packet buffers and tables of a small router

void check_hugepages(const Machine& m, const Wanted& w, Findings& out) {
  if (!w.polls()) return;
  int64_t free_mb = 0;
  const std::string folder = "/sys/kernel/mm/hugepages";
  for (const std::string& size : m.names_in(folder)) {
    long long kb = 0;
    if (std::sscanf(size.c_str(), "hugepages-%lldkB", &kb) != 1) continue;
    const std::string path = std::string(folder).append("/").append(size).append("/free_hugepages");
    free_mb += m.number(path).value_or(0) * kb / 1024;
  }
  if (free_mb < kMin)
    out.push_back({"hugepages", Severity::kStops,
                   std::to_string(free_mb) + " MB of hugepages are free, and NICs need " +
                       std::to_string(kMin) + " MB or more",
                   "dpdk-hugepages.py --setup 1G"});
  if (m.text("/proc/mounts").find(" hugetlbfs ") == std::string::npos)
    out.push_back({"hugetlbfs", Severity::kStops,
                   "no file system of hugepages is mounted: DPDK cannot allocate them",
                   "mount -t hugetlbfs none /dev/hugepages"});
}

void check_available(const Machine& m, Findings& out) {
  const auto available = available_memory(m.root());
  if (!available || *available / 1'000'000 >= static_cast<size_t>(kMin)) return;
  out.push_back({"memory", Severity::kStops,
                 "this machine, or the control group, has " +
                     std::to_string(*available / 1'000'000) +
                     " MB to give: the kernel ends a router "
                     "that takes more",
                 "systemctl set-property UNIT MemoryMax=2G, or give links smaller buffers"});
}

// vfio and AF_XDP lock the packet buffers. Both skip the limit for who has CAP_IPC_LOCK
// (vfio_iommu_type1.c, xdp_umem.c).
void check_memlock(const Machine& m, const Wanted& w, Findings& out) {
  bool locks = w.polls();
  for (const auto& i : w.interfaces) locks = locks || !i.af_packet;
  locks = locks && !has_capability(m, CAP_IPC_LOCK);
  std::istringstream limits(m.text("/proc/self/limits"));
  for (std::string line; locks && std::getline(limits, line);) {
    if (!line.starts_with("Max locked memory")) continue;
    std::istringstream words(line.substr(17));
    long long soft = 0;
    if (words >> soft && soft < kMin << 20)
      out.push_back({"memlock", Severity::kStops,
                     "at most " + std::to_string(soft >> 10) +
                         " kB of memory may be locked, and a NIC's driver locks all packet buffers",
                     "LimitMEMLOCK=infinity in the unit, or ulimit -l unlimited"});
  }
}

void check_large_pages(const Machine& m, Findings& out) {
  if (m.text("/sys/kernel/mm/transparent_hugepage/enabled").find("[never]") == std::string::npos)
    return;
  out.push_back({"large-pages", Severity::kNote,
                 "transparent hugepages are off: the state of many links lies in as many small "
                 "pages, and packets take longer",
                 "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"});
}

}  // namespace

void check_memory(const Machine& m, const Wanted& w, Findings& out) {
  check_hugepages(m, w, out);
  check_available(m, out);
  check_memlock(m, w, out);
  check_large_pages(m, out);
}

}  // namespace turnpike::ops
