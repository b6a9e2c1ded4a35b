// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/port_balancer.h"

#include <algorithm>

#include "common/program/attachment.h"

namespace turnpike::router {
namespace {

constexpr uint32_t kEthernetBytes = 38;  // header, FCS, preamble and gap of a frame

const config::Direction& egress_of(const config::Topology& t, size_t node, const config::Link& l) {
  return l.directions[l.end_at(t.routers[node].name)];
}

bool emulates_delay(const config::Topology& t, size_t node, const config::Link& l) {
  return l.emulate_delay && egress_of(t, node, l).delay > Nanos(0);
}

}  // namespace

std::unique_ptr<PortBalancer> PortBalancer::make(const config::Topology& topology, size_t node,
                                                 const std::vector<LinkDevice>& devices,
                                                 unsigned lcores) {
  const config::Router& self = topology.routers[node];
  if (!self.rebalance || lcores < 2) return nullptr;
  if (is_gateway(topology, node) || has_branches(topology, node)) return nullptr;
  for (size_t l = 0; l < devices.size(); ++l) {
    if (devices[l].port != l) return nullptr;  // several links share a port
    const config::Link& link = topology.links[self.links[l]];
    const bool direct = egress_of(topology, node, link).drain == config::Drain::kLineRate;
    if (direct && devices[l].queues < lcores) return nullptr;
    if (direct && emulates_delay(topology, node, link)) return nullptr;
  }
  return std::unique_ptr<PortBalancer>(new PortBalancer(topology, node, lcores));
}

PortBalancer::PortBalancer(const config::Topology& topology, size_t node, unsigned lcores)
    : topology_(topology), node_(node), lcores_(static_cast<uint16_t>(lcores)) {}

void PortBalancer::start(std::span<Port> ports, const std::vector<std::string>& links) {
  ports_ = ports;
  std::vector<BalancedPort> balanced;
  for (size_t l = 0; l < ports.size(); ++l) {
    Port& port = ports[l];
    std::vector<uint16_t> table = port.redirection_table();
    if (table.empty() || std::ranges::max(table) >= lcores_) continue;
    port.steer(steering_, static_cast<unsigned>(balanced.size()));
    links_.push_back(l);
    balanced.push_back({.link = links[l],
                        .table = std::move(table),
                        .rx_descriptors = port.rx_descriptors(),
                        .write = [this, &port](std::span<const uint16_t> buckets, uint16_t queue) {
                          const bool done = port.move_buckets(buckets, queue);
                          return BalancedPort::Written{.done = done, .at = clock_->now()};
                        }});
  }
  rebalancer_ = std::make_unique<Rebalancer>(steering_, std::move(balanced), lcores_);
}

Nanos PortBalancer::poll(const TscClock& clock, std::span<const LcoreFigures> lcores,
                         Router& router) {
  if (links_.empty()) return kNever;
  clock_ = &clock;
  std::vector<Rebalancer::Times> times;
  for (const LcoreFigures& l : lcores) times.push_back({.busy = l.busy, .idle = l.idle});
  return rebalancer_->poll(clock.now(), times, departure(router));
}

// All transmit rings of the port are full of the largest frames, and the port serves them in turn.
Nanos PortBalancer::time_of_rings(const Port& port, const config::Link& link) const {
  const auto configured = static_cast<double>(egress_of(topology_, node_, link).rate.count());
  const double rate = port.speed() > 0 ? port.speed() : configured;
  const double bytes =
      static_cast<double>(lcores_) * port.tx_descriptors() * (link.mtu + kEthernetBytes);
  return from_seconds(8 * bytes / rate);
}

Rebalancer::Departure PortBalancer::departure(Router& router) const {
  Rebalancer::Departure d;
  for (size_t l = 0; l < ports_.size(); ++l) {
    const config::Link& link = topology_.links[topology_.routers[node_].links[l]];
    if (egress_of(topology_, node_, link).drain != config::Drain::kLineRate) continue;
    d.tx_descriptors = std::max<uint32_t>(d.tx_descriptors, ports_[l].tx_descriptors());
    d.tx_time = std::max(d.tx_time, time_of_rings(ports_[l], link));
    d.may_begin = d.may_begin && ports_[l].link_up();
  }
  PuntPath* const punt = router.punt_path();
  if (punt != nullptr && punt->waiting() > 0) d.may_begin = false;
  return d;
}

std::optional<std::vector<unsigned>> PortBalancer::buckets_of(size_t link) const {
  const auto at = std::ranges::find(links_, link);
  if (at == links_.end()) return {};
  std::vector<unsigned> buckets(lcores_);
  const auto port = static_cast<size_t>(at - links_.begin());
  for (const uint16_t queue : rebalancer_->ports()[port].table) ++buckets[queue];
  return buckets;
}

}  // namespace turnpike::router
