// SPDX-License-Identifier: BSD-3-Clause
// The kernel: privileges, the TUN device, netlink sockets that lost messages, irqbalance.
#include <algorithm>
#include <sstream>

#include <linux/capability.h>

#include "operator/doctor/checks.h"

namespace turnpike::ops {
namespace {

void check_privileges(const Machine& m, const Wanted& w, Findings& out) {
  if (!w.interfaces.empty() && !has_capability(m, CAP_NET_RAW))
    out.push_back(
        {"cap-net-raw", Severity::kStops,
         "this user may open no packet socket (CAP_NET_RAW), which af_packet and af_xdp need",
         "run as root, or AmbientCapabilities=CAP_NET_RAW in the unit"});
  const bool tap = w.tap || w.linux_control;
  if (tap && !has_capability(m, CAP_NET_ADMIN))
    out.push_back({"cap-net-admin", Severity::kStops,
                   "this user may make no interface (CAP_NET_ADMIN), which TAP ports and `control: "
                   "linux` need",
                   "run as root, or AmbientCapabilities=CAP_NET_ADMIN in the unit"});
  if (w.linux_control && w.linux_control->elsewhere && !has_capability(m, CAP_SYS_ADMIN))
    out.push_back({"cap-sys-admin", Severity::kStops,
                   "this user may enter no network namespace (CAP_SYS_ADMIN), which `namespace` of "
                   "`control: linux` needs",
                   "run as root, or AmbientCapabilities=CAP_SYS_ADMIN in the unit"});
  if (tap && !m.exists("/dev/net/tun"))
    out.push_back({"tun", Severity::kStops,
                   "there is no /dev/net/tun, which TAP ports and `control: linux` need",
                   "modprobe tun; in a container: --device /dev/net/tun"});
}

// Columns of /proc/net/netlink: sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode.
void check_netlink(const Machine& m, Findings& out) {
  std::istringstream sockets(m.text("/proc/net/netlink"));
  std::string line;
  std::getline(sockets, line);
  while (std::getline(sockets, line)) {
    std::istringstream words(line);
    std::string sk, protocol, pid, groups, rmem, wmem, dump, locks;
    uint64_t drops = 0;
    if (!(words >> sk >> protocol >> pid >> groups >> rmem >> wmem >> dump >> locks >> drops))
      continue;
    if (drops == 0 || !m.text("/proc/" + pid + "/comm").starts_with("turnpike")) continue;
    out.push_back({"netlink-drops", Severity::kHarms,
                   "the kernel dropped " + std::to_string(drops) +
                       " netlink messages for process " + pid +
                       ": the router had to read all routes again",
                   "sysctl -w net.core.rmem_max=67108864, and restart the router"});
  }
}

void check_irqbalance(const Machine& m, const Wanted& w, Findings& out) {
  for (const std::string& pid : m.names_in("/proc")) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (m.text("/proc/" + pid + "/comm") != "irqbalance") continue;
    out.push_back({"irqbalance", w.polls() ? Severity::kHarms : Severity::kNote,
                   "irqbalance runs: it moves interrupts to the workers' CPUs",
                   "systemctl disable --now irqbalance, or IRQBALANCE_BANNED_CPULIST"});
    return;
  }
}

}  // namespace

bool has_capability(const Machine& m, unsigned number) {
  std::istringstream status(m.text("/proc/self/status"));
  for (std::string line; std::getline(status, line);) {
    unsigned long long set = 0;
    if (std::sscanf(line.c_str(), "CapEff: %llx", &set) == 1) return (set >> number & 1) != 0;
  }
  return true;  // unknown
}

void check_kernel(const Machine& m, const Wanted& w, Findings& out) {
  check_privileges(m, w, out);
  check_netlink(m, out);
  check_irqbalance(m, w, out);
}

}  // namespace turnpike::ops
