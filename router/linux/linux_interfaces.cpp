// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/linux_interfaces.h"

#include <algorithm>

namespace turnpike::router {

namespace {

constexpr Nanos kGroupInterval = 500_ms;

InterfaceMark mark_of(const config::Router& self, const config::Link& link) {
  InterfaceMark mark{.router = self.name, .link = link.name};
  if (!self.linux_control->file_addresses) return mark;
  const config::Interface& own = link.ends[link.end_at(self.name)];
  if (own.ipv4.address != 0) mark.addresses.emplace_back(own.ipv4);
  if (own.ipv6.address != config::Ipv6{} && link.mtu >= config::kMinIpv6Mtu)
    mark.addresses.emplace_back(own.ipv6);
  return mark;
}

}  // namespace

tl::expected<std::unique_ptr<LinuxInterfaces>, std::string> LinuxInterfaces::make(
    const config::Topology& topology, size_t node) {
  const config::Router& self = topology.routers[node];
  if (!self.linux_control) return nullptr;
  const config::LinuxControl& control = *self.linux_control;
  auto kept = KeptInterfaces::find(self.name, control.network_namespace);
  if (!kept) return tl::unexpected(kept.error());
  std::vector<Tap> taps;
  for (size_t l = 0; l < self.links.size(); ++l) {
    const config::Link& link = topology.links[self.links[l]];
    const std::string& name = control.interfaces[l];
    auto tap = Tap::open({.name = name,
                          .mac = link.ends[link.end_at(self.name)].mac,
                          .mtu = link.mtu,
                          .network_namespace = control.network_namespace,
                          .adopt = kept->has(name)});
    if (!tap) return tl::unexpected("link " + link.name + ": " + tap.error());
    if (const auto marked = kept->mark(tap->index(), name, mark_of(self, link)); !marked)
      return tl::unexpected("link " + link.name + ": " + marked.error());
    taps.push_back(std::move(*tap));
  }
  auto groups = MulticastGroups::open(control.interfaces, control.network_namespace);
  if (!groups) return tl::unexpected(groups.error());
  return std::unique_ptr<LinuxInterfaces>(
      new LinuxInterfaces(std::move(taps), std::move(*groups), std::move(*kept)));
}

tl::expected<std::vector<std::string>, std::string> LinuxInterfaces::remove(
    const config::Topology& topology, size_t node) {
  const config::Router& self = topology.routers[node];
  auto kept = KeptInterfaces::find(
      self.name, self.linux_control ? self.linux_control->network_namespace : std::string());
  if (!kept) return tl::unexpected(kept.error());
  std::vector<std::string> names = kept->names();
  for (const std::string& name : names)
    if (const auto removed = kept->remove(name); !removed) return tl::unexpected(removed.error());
  return names;
}

LinuxInterfaces::Removed LinuxInterfaces::remove_all(const std::vector<std::string>& namespaces) {
  Removed result;
  for (const std::string& network_namespace : namespaces) {
    auto kept = KeptInterfaces::find("", network_namespace);
    if (!kept) {
      result.errors.push_back(kept.error());
      continue;
    }
    for (const std::string& name : kept->names())
      if (const auto removed = kept->remove(name); removed)
        result.names.push_back(name);
      else
        result.errors.push_back(removed.error());
  }
  return result;
}

tl::expected<void, std::string> LinuxInterfaces::keep() {
  for (Tap& tap : taps_)
    if (auto kept = tap.keep(); !kept) return kept;
  for (const std::string& name : kept_.names()) {
    if (std::ranges::find(taps_, name, &Tap::name) != taps_.end()) continue;
    if (auto removed = kept_.remove(name); !removed) return removed;
  }
  return {};
}

tl::expected<void, std::string> LinuxInterfaces::start(Router& router, rte_mempool* pool) {
  path_ = router.punt_path();
  const std::vector<unsigned> owners = router.owners();
  std::vector<PuntThread::Link> links;
  for (size_t l = 0; l < taps_.size(); ++l) links.push_back({&taps_[l], owners[l]});
  thread_ = std::make_unique<PuntThread>(*path_, std::move(links), pool);
  return thread_->start();
}

void LinuxInterfaces::stop_reading() {
  if (thread_) thread_->stop_reading();
}

void LinuxInterfaces::follow(size_t link, bool up) {
  if (taps_[link].carrier() != up) taps_[link].set_carrier(up);
}

std::vector<std::string> LinuxInterfaces::poll(Nanos now, const Resolve& resolve) {
  std::vector<std::string> lines;
  if (!thread_) return lines;
  if (now >= next_groups_) {
    next_groups_ = now + kGroupInterval;
    JoinedGroups groups = groups_.read();
    if (groups.links != path_->groups().links) path_->set_groups(std::move(groups));
  }
  const uint64_t gone = thread_->gone();
  for (size_t l = 0; l < taps_.size(); ++l) {
    const uint64_t bit = uint64_t{1} << l;
    if ((gone & ~reported_ & bit) == 0) continue;
    lines.push_back("interface '" + taps_[l].name() +
                    "' was deleted: Linux neither sees nor sends packets of this link until the "
                    "router starts again");
    reported_ |= bit;
  }
  std::array<NeighbourRequest, 64> requests;
  for (unsigned w = 0; w < path_->workers(); ++w)
    while (const unsigned n = path_->shard(w).waiting->requests(requests))
      for (unsigned i = 0; i < n && resolve; ++i) resolve(requests[i]);
  return lines;
}

}  // namespace turnpike::router
