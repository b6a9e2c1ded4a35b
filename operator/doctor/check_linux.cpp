// SPDX-License-Identifier: BSD-3-Clause
// Linux as control plane: socket buffers, neighbour tables and forwarding settings of the kernel.
#include <algorithm>
#include <cstdlib>

#include <net/if.h>

#include "operator/doctor/checks.h"

namespace turnpike::ops {
namespace {

constexpr int64_t kBuffer = int64_t{64} << 20;  // B of the router's netlink socket
constexpr std::string_view kIpv4 = "/proc/sys/net/ipv4/";

int64_t setting(const Machine& m, const std::string& name, int64_t fallback) {
  return m.number(std::string(kIpv4) + name).value_or(fallback);
}

void check_buffer(const Machine& m, Findings& out) {
  const auto most = m.number("/proc/sys/net/core/rmem_max");
  if (most && *most < kBuffer)
    out.push_back({"rmem-max", Severity::kNote,
                   "without CAP_NET_ADMIN the router's netlink buffer is " + std::to_string(*most) +
                       " B: it loses messages when many routes change, and reads all again",
                   "sysctl -w net.core.rmem_max=67108864"});
}

/// The kernel refuses neighbours beyond gc_thresh3, of all interfaces together.
void check_neighbours(const Machine& m, const Wanted::Linux& w, Findings& out) {
  const int64_t most = setting(m, "neigh/default/gc_thresh3", INT64_MAX);
  const std::string arp = m.text("/proc/net/arp");
  const auto known = std::ranges::count(arp, '\n');  // the first line is a title
  const std::string mend =
      "sysctl -w net.ipv4.neigh.default.gc_thresh3=" + std::to_string(2 * w.neighbours + 1024) +
      " net.ipv4.neigh.default.gc_thresh2=" + std::to_string(w.neighbours + 512);
  if (known > most / 10 * 9)
    out.push_back({"neighbour-table", Severity::kHarms,
                   "Linux has " + std::to_string(known) + " neighbours of at most " +
                       std::to_string(most) + ": packets for further ones are dropped",
                   mend});
  else if (w.neighbours > static_cast<uint64_t>(most))
    out.push_back({"gc-thresh", Severity::kNote,
                   "the links' subnets have " + std::to_string(w.neighbours) +
                       " addresses, and Linux keeps at most " + std::to_string(most) +
                       " neighbours: a scan of the addresses fills its table",
                   mend});
}

void check_forwarding(const Machine& m, const Wanted::Linux& w, Findings& out) {
  const bool forwards = setting(m, "ip_forward", w.punt_ttl ? 1 : 0) != 0;
  if (w.punt_ttl && !forwards)
    out.push_back(
        {"ip-forward", Severity::kHarms,
         "Linux does not forward, so that it answers no packet with an expired TTL, which "
         "`ttl_expired: punt` leaves to it",
         "sysctl -w net.ipv4.ip_forward=1"});
  if (!w.punt_ttl && forwards)
    out.push_back({"ip-forward", Severity::kNote,
                   "Linux forwards packets between its interfaces as well, and what it forwards "
                   "leaves without a price",
                   "sysctl -w net.ipv4.ip_forward=0, unless another program needs it"});
}

/// The kernel takes the stricter of `all` and the interface's own (ip-sysctl.rst).
void check_reverse_path(const Machine& m, const Wanted::Linux& w, Findings& out) {
  const int64_t of_all = setting(m, "conf/all/rp_filter", 0);
  const int64_t of_new = setting(m, "conf/default/rp_filter", 0);  // an interface starts with it
  std::string strict;
  for (const std::string& name : w.interfaces) {
    const int64_t own = setting(m, "conf/" + name + "/rp_filter", of_new);
    if (std::max(own, of_all) == 1) strict += (strict.empty() ? "" : ", ") + name;
  }
  if (!strict.empty())
    out.push_back({"rp-filter", Severity::kHarms,
                   "Linux drops what comes by " + strict +
                       " and whose sender it would answer by another interface: BGP and pings over "
                       "unequal paths fail",
                   "sysctl -w net.ipv4.conf.all.rp_filter=2 (loose)"});
}

/// The kernel receives each frame of a packet socket as well. It answers ARP requests for each of
/// its addresses, those of other interfaces included (ip-sysctl.rst, arp_ignore).
void check_answers(const Machine& m, const Wanted::Interface& i, Findings& out) {
  const std::string flags = m.text("/sys/class/net/" + i.name + "/flags");
  if (!flags.empty() && (std::strtoul(flags.c_str(), nullptr, 16) & IFF_NOARP) == 0)
    out.push_back({"port-arp", Severity::kHarms,
                   "Linux answers ARP on " + i.name +
                       " as well, with its MAC address: neighbours of "
                       "link " +
                       i.link + " send to it, and not to the router",
                   "ip link set " + i.name + " arp off"});
  if (m.number("/proc/sys/net/ipv6/conf/" + i.name + "/disable_ipv6") == 0)
    out.push_back({"port-ipv6", Severity::kHarms,
                   "Linux has IPv6 on " + i.name +
                       " as well: it sends and answers there beside the "
                       "interface of link " +
                       i.link,
                   "sysctl -w net.ipv6.conf." + i.name + ".disable_ipv6=1"});
}

}  // namespace

void check_linux(const Machine& m, const Wanted& wanted, Findings& out) {
  if (!wanted.linux_control) return;
  check_buffer(m, out);
  if (wanted.linux_control->elsewhere) return;  // these settings are another namespace's
  check_neighbours(m, *wanted.linux_control, out);
  check_forwarding(m, *wanted.linux_control, out);
  check_reverse_path(m, *wanted.linux_control, out);
  for (const Wanted::Interface& i : wanted.interfaces)
    if (i.af_packet) check_answers(m, i, out);
}

}  // namespace turnpike::ops
