// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/linux_control.h"

#include <algorithm>

#include "common/wire/bytes.h"
#include "router/linux/network_namespace.h"

namespace turnpike::router {

namespace {

constexpr Nanos kGatewayInterval = 1_s;

/// The destination of a packet that waits.
Address neighbour_of(const NeighbourRequest& request) {
  constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!std::equal(kMapped.begin(), kMapped.end(), request.destination.begin()))
    return request.destination;
  return config::Ipv4(wire::load_be32(request.destination.data() + kMapped.size()));
}

}  // namespace

tl::expected<std::unique_ptr<LinuxControl>, std::string> LinuxControl::make(
    const config::Topology& topology, size_t node, Router& router, LinuxInterfaces& interfaces,
    size_t netlink_buffer) {
  const config::Router& self = topology.routers[node];
  std::unique_ptr<LinuxControl> control(new LinuxControl(router, interfaces));
  for (size_t l = 0; l < self.links.size(); ++l) {
    control->names_.emplace(self.linux_control->interfaces[l], l);
    control->mtus_.push_back(topology.links[self.links[l]].mtu);
  }
  // The sockets belong to the namespace in which they are opened.
  const auto there = ScopedNetworkNamespace::enter(self.linux_control->network_namespace);
  if (!there) return tl::unexpected(there.error());
  KernelReader::Parts parts{.sink = *router.routes(), .listener = *control};
  parts.interfaces = control->names_;
  parts.limits.receive_buffer = netlink_buffer;
  auto reader = KernelReader::open(parts);
  if (!reader) return tl::unexpected(reader.error());
  control->reader_ = std::move(*reader);
  auto comparison = KernelComparison::open();
  if (!comparison) return tl::unexpected(comparison.error());
  control->comparison_ = std::make_unique<KernelComparison>(std::move(*comparison));
  return control;
}

Nanos LinuxControl::poll(Nanos now) {
  const auto resolve = [&](const NeighbourRequest& request) {
    const Via via = router_.routes()->gateway_of(request.hop);
    Address neighbour = neighbour_of(request);
    if (const auto* ipv4 = std::get_if<config::Ipv4>(&via.gateway)) neighbour = *ipv4;
    if (const auto* ipv6 = std::get_if<config::Ipv6>(&via.gateway)) neighbour = *ipv6;
    reader_->resolve(request.link, neighbour, now);
  };
  for (std::string& line : interfaces_.poll(now, resolve)) lines_.push_back(std::move(line));
  const Nanos due = reader_->poll(now);
  if (reader_->settled()) settled_ = now;
  resolve_gateways(now);
  return due;
}

NetlinkFigures LinuxControl::figures(Nanos now) const {
  const ReaderCounts& c = reader_->counts();
  const RouteTable::Stats s = router_.routes()->stats();
  NetlinkFigures f;
  f.messages = c.notifications;
  f.malformed = c.malformed;
  f.overruns = c.overruns;
  f.lost = c.lost;
  f.failed_dumps = c.failed;
  for (size_t r = 0; r < c.resyncs.size(); ++r)
    f.resyncs.emplace_back(to_text(static_cast<ResyncReason>(r)), c.resyncs[r]);
  f.last_resync = c.last_resync;
  f.lag = reader_->settled() ? Nanos(0) : now - settled_;
  f.receive_buffer = reader_->receive_buffer();
  f.ipv4_routes = s.ipv4;
  f.ipv6_routes = s.ipv6;
  f.no_room = s.waiting;
  f.neighbours = reader_->state().neighbours().told();
  f.unresolved = reader_->state().neighbours().unresolved();
  f.asked = c.resolve_asked;
  f.repeated = c.resolve_recent;
  f.too_many = c.resolve_too_many;
  f.failed = c.resolve_failed;
  return f;
}

void LinuxControl::resolve_gateways(Nanos now) {
  const RouteTable& routes = *router_.routes();
  const uint64_t commits = routes.commits();
  if (commits == seen_commits_ && now < next_gateways_) return;
  seen_commits_ = commits;
  next_gateways_ = now + kGatewayInterval;
  for (const Via& via : routes.unresolved()) {
    if (const auto* ipv4 = std::get_if<config::Ipv4>(&via.gateway))
      reader_->resolve(via.link, *ipv4, now);
    if (const auto* ipv6 = std::get_if<config::Ipv6>(&via.gateway))
      reader_->resolve(via.link, *ipv6, now);
  }
}

void LinuxControl::link_changed(size_t link, const LinkStatus& status) {
  const auto name = std::ranges::find(names_, link, &Interfaces::Names::value_type::second);
  if (!status.present) return;  // LinuxInterfaces::poll() reports it
  // The port was set up for the file's MTU; Linux may lower it.
  const auto mtu = static_cast<uint16_t>(std::clamp<uint32_t>(status.mtu, 68, mtus_[link]));
  router_.routes()->set_mtu(link, mtu);
  lines_.push_back("interface " + name->first + " is " + (status.up ? "up" : "down") +
                   (status.carrier ? "" : ", no carrier") + ", MTU " + std::to_string(status.mtu) +
                   (status.mtu > mtus_[link] ? ", more than the port's" : ""));
}

void LinuxControl::resynchronised(const Resync& resync) {
  // The periodic ones, and those that follow every change of a link, would fill the log.
  if (resync.reason == ResyncReason::kStart || resync.lost > 0 || !resync.complete)
    lines_.push_back(to_text(resync));
}

tl::expected<RouteComparison, std::string> LinuxControl::compare() const {
  return comparison_->compare(names_, default_distances(), [this](const auto& visit) {
    router_.routes()->for_each(
        [&](const Prefix& prefix, const Route& route, bool /*in_fib*/) { visit(prefix, route); });
  });
}

}  // namespace turnpike::router
