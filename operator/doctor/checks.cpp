// SPDX-License-Identifier: BSD-3-Clause
#include "operator/doctor/checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "common/config/port_device.h"

namespace turnpike::ops {

std::string_view name_of(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames{"stops", "harms", "note"};
  return kNames[static_cast<size_t>(severity)];
}

namespace {

void add_linux(const config::Topology& t, const config::Router& r, Wanted& w) {
  if (!w.linux_control) w.linux_control = Wanted::Linux{};
  Wanted::Linux& all = *w.linux_control;
  const auto& names = r.linux_control->interfaces;
  all.interfaces.insert(all.interfaces.end(), names.begin(), names.end());
  all.elsewhere = all.elsewhere || !r.linux_control->network_namespace.empty();
  all.punt_ttl = all.punt_ttl || r.linux_control->punt_ttl;
  for (const size_t l : r.links) {
    const config::Ipv4Prefix& own = t.links[l].ends[t.links[l].end_at(r.name)].ipv4;
    if (own.address != 0) all.neighbours += uint64_t{1} << (32 - own.length);
  }
}

}  // namespace

Wanted wanted_of(const config::Topology& t) {
  Wanted w;
  for (const config::Router& r : t.routers) {
    w.lcores.insert(w.lcores.end(), r.lcores.begin(), r.lcores.end());
    if (r.linux_control) add_linux(t, r, w);
    std::set<std::string> shared;  // ports of links in VLANs
    for (const size_t l : r.links) {
      const config::Link& link = t.links[l];
      const config::Interface& own = link.ends[link.end_at(r.name)];
      if (own.tagged_port && !shared.insert(config::port_device(own.attachment)).second) continue;
      const config::Attachment& at = own.attachment;
      if (const auto* pci = std::get_if<config::AttachPci>(&at)) w.pci.push_back(pci->address);
      if (const auto* raw = std::get_if<config::AttachAfPacket>(&at))
        w.interfaces.push_back(
            {.name = raw->interface, .link = link.name, .mtu = link.mtu, .af_packet = true});
      if (const auto* xdp = std::get_if<config::AttachAfXdp>(&at))
        w.interfaces.push_back({.name = xdp->interface, .link = link.name, .mtu = link.mtu});
      w.tap = w.tap || std::holds_alternative<config::AttachTap>(at);
    }
  }
  std::ranges::sort(w.lcores);
  w.lcores.erase(std::unique(w.lcores.begin(), w.lcores.end()), w.lcores.end());
  return w;
}

Findings examine(const Machine& machine, const Wanted& wanted) {
  Findings all;
  check_nics(machine, wanted, all);
  check_memory(machine, wanted, all);
  check_cpus(machine, wanted, all);
  check_kernel(machine, wanted, all);
  check_linux(machine, wanted, all);
  std::ranges::stable_sort(all, {}, &Finding::severity);
  return all;
}

bool ill(const Findings& findings) {
  return std::ranges::any_of(findings,
                             [](const Finding& f) { return f.severity != Severity::kNote; });
}

}  // namespace turnpike::ops
