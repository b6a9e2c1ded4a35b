// SPDX-License-Identifier: BSD-3-Clause
// Linux as a router's control plane: the names of its TAP interfaces.
#include <algorithm>
#include <map>

#include "common/config/describe.h"
#include "common/config/draft.h"

namespace turnpike::config {
namespace {

constexpr size_t kMaxInterfaceName = 15;  // IFNAMSIZ without the NUL
constexpr uint16_t kMaxTapMtu = 65521;    // 65535 B less an Ethernet header

/// The kernel interface that DPDK opens or makes for the end of a link; empty: none.
std::string port_interface(const Attachment& a) {
  if (const auto* p = std::get_if<AttachAfPacket>(&a)) return p->interface;
  if (const auto* x = std::get_if<AttachAfXdp>(&a)) return x->interface;
  if (const auto* t = std::get_if<AttachTap>(&a)) return t->interface;
  return {};
}

/// Names that the file gives, by the link's index.
std::map<size_t, const Field<InterfaceName>*> given_names(Draft& d, const Router& router,
                                                          const LinuxControlSpec& spec,
                                                          const std::string& path) {
  std::map<size_t, const Field<InterfaceName>*> given;
  std::vector<std::string_view> names;
  for (const size_t l : router.links) names.emplace_back(d.topology.links[l].name);
  for (const auto& [link, at, name] : spec.interfaces.value) {
    const auto found = d.links.find(link);
    if (found != d.links.end() && std::ranges::count(router.links, found->second) != 0) {
      given[found->second] = &name;
    } else if (d.ends_known) {
      std::string message = "no link '" + link + "' ends at '";
      message += router.name + "'" + suggestion(link, names);
      d.mistakes.add(at, join(path, link), std::move(message));
    }
  }
  return given;
}

void place_interfaces(Draft& d, const Router& router, const Field<LinuxControlSpec>& spec,
                      const std::string& path, LinuxControl& control) {
  const auto given = given_names(d, router, spec.value, path);
  std::map<std::string, std::string> users;  // of names, in the interfaces' namespace
  for (const size_t l : router.links) {
    const Link& link = d.topology.links[l];
    const std::string port = port_interface(link.ends[link.end_at(router.name)].attachment);
    if (!port.empty() && control.network_namespace.empty())
      users.emplace(port, "the port of link '" + link.name + "'");
  }
  for (const size_t l : router.links) {
    const Link& link = d.topology.links[l];
    const auto own = given.find(l);
    const bool named = own != given.end();
    if (named && own->second->wrong) continue;
    const Position at = named ? own->second->at : spec.at;
    control.interfaces.push_back(named ? own->second->value.text
                                       : link.name.substr(0, kMaxInterfaceName));
    const std::string& name = control.interfaces.back();
    const auto [first, fresh] = users.emplace(name, "the interface of link '" + link.name + "'");
    if (!fresh)
      d.mistakes.add(at, path,
                     "the interface of link '" + link.name + "' would be '" + name +
                         "', the name of " + first->second + ": name it in `interfaces`");
    if (link.mtu > kMaxTapMtu)
      d.mistakes.add(at, path,
                     "link '" + link.name + "' has an MTU above " + std::to_string(kMaxTapMtu) +
                         " B, the most of a TAP interface");
  }
}

}  // namespace

void place_control(Draft& d) {
  for (size_t r = 0; r < d.topology.routers.size(); ++r) {
    const auto& [name, at, spec] = d.file.routers.value[r];
    if (!spec.control.given || spec.control.wrong) continue;
    const Field<LinuxControlSpec>& chosen = spec.control.value.linux_control;
    const LinuxControlSpec& s = chosen.value;
    LinuxControl control;
    const std::array<const Field<Frequency>*, kPuntClasses> rates{
        &s.punt.value.neighbour, &s.punt.value.routing, &s.punt.value.local, &s.punt.value.ttl,
        &s.punt.value.other};
    for (size_t k = 0; k < kPuntClasses; ++k) control.rates[k] = rates[k]->value.per_second;
    control.punt_ttl = s.ttl_expired.value == kTtlExpired[1];
    control.file_addresses = s.addresses.value == kAddressSources[0];
    control.network_namespace = s.network_namespace.value.text;
    Router& router = d.topology.routers[r];
    place_interfaces(d, router, chosen, "routers." + name + ".control.linux.interfaces", control);
    router.linux_control = std::move(control);
  }
}

}  // namespace turnpike::config
