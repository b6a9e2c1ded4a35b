// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/kept_interfaces.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "router/linux/network_namespace.h"
#include "router/linux/route_value.h"
#include "router/linux/tap.h"

namespace turnpike::router {

namespace {

bool among(const std::vector<Prefix>& all, const Prefix& wanted) {
  return std::ranges::any_of(all, [&](const Prefix& p) { return to_text(p) == to_text(wanted); });
}

tl::unexpected<std::string> failed(const std::string& name, const std::string& what, int error) {
  std::string text = "interface '" + name + "': " + what + ": " + std::strerror(error);
  if (error == EPERM) text += "; run as root, or setcap cap_net_admin+ep on the program";
  if (error == EACCES)
    text += "; if IPv6 is off there: sysctl net.ipv6.conf." + name + ".disable_ipv6=0";
  return tl::unexpected(std::move(text));
}

}  // namespace

tl::expected<KeptInterfaces, std::string> KeptInterfaces::find(
    const std::string& router, const std::string& network_namespace) {
  const auto inside = ScopedNetworkNamespace::enter(network_namespace);
  if (!inside) return tl::unexpected(inside.error());
  auto requests = InterfaceRequests::open();
  if (!requests)
    return tl::unexpected(std::string("netlink: socket: ") + std::strerror(requests.error()));
  KeptInterfaces kept(std::move(*requests), network_namespace);
  const auto all = kept.requests_.aliased();
  if (!all) return tl::unexpected(std::string("netlink: links: ") + std::strerror(all.error()));
  for (const AliasedInterface& i : *all)
    if (auto mark = parse_mark(i.alias); mark && (router.empty() || mark->router == router))
      kept.marks_.emplace(i.name, std::move(*mark));
  return kept;
}

std::vector<std::string> KeptInterfaces::names() const {
  std::vector<std::string> all;
  for (const auto& [name, mark] : marks_) all.push_back(name);
  return all;
}

tl::expected<void, std::string> KeptInterfaces::mark(unsigned index, const std::string& name,
                                                     const InterfaceMark& wanted) {
  const auto found = marks_.find(name);
  const InterfaceMark former = found == marks_.end() ? InterfaceMark() : found->second;
  for (const Prefix& a : former.addresses) {
    if (among(wanted.addresses, a)) continue;
    if (const auto removed = requests_.remove(index, a); !removed)
      return failed(name, "address " + to_text(a), removed.error());
  }
  for (const Prefix& a : wanted.addresses) {
    if (among(former.addresses, a)) continue;
    if (const auto added = requests_.add(index, a); !added)
      return failed(name, "address " + to_text(a), added.error());
  }
  if (to_text(former) == to_text(wanted)) return {};
  if (const auto set = requests_.set_alias(index, to_text(wanted)); !set)
    return failed(name, "alias", set.error());
  marks_[name] = wanted;
  return {};
}

tl::expected<void, std::string> KeptInterfaces::remove(const std::string& name) {
  auto removed = Tap::remove(name, network_namespace_);
  if (removed) marks_.erase(name);
  return removed;
}

}  // namespace turnpike::router
