// SPDX-License-Identifier: BSD-3-Clause
// The next hop is the node at the other end of the host's link.
#include "sender/host/paths.h"

#include <algorithm>

namespace turnpike::sender {
namespace {

void set_addresses(wire::FrameSpec& spec, unsigned ip_version, const config::Interface& own,
                   const config::Ipv4& ipv4, const config::Ipv6& ipv6) {
  if (ip_version == 6) {
    spec.addresses = wire::Ipv6Pair{own.ipv6.address, ipv6};
  } else {
    spec.addresses = wire::Ipv4Pair{own.ipv4.address, ipv4};
  }
}

}  // namespace

Paths::Paths(const config::Topology& topology, uint32_t host, bool populated) : host_(host) {
  if (!populated) {
    topology_ = &topology;
    return;
  }
  plain_.assign((topology.hosts.size() + topology.trees.size()) * 2, kNone);
  const auto add_path = [&](size_t to, const auto& traffic) {
    add(static_cast<uint32_t>(to), traffic.ip_version, traffic.dscp,
        spec_of(topology, host, to, traffic.ip_version));
  };
  for (const config::Flow& f : topology.flows) {
    if (f.from == host) add_path(topology.destination_of(f), f);
  }
  for (const config::Workload& w : topology.workloads) {
    if (std::ranges::find(w.from, host) == w.from.end()) continue;
    for (const size_t to : w.to) add_path(to, w);
  }
}

Paths::Paths(std::span<const wire::FrameSpec> destinations, std::span<const unsigned> dscps)
    : plain_(destinations.size() * 2, kNone) {
  for (uint32_t to = 0; to < destinations.size(); ++to) {
    const bool ipv6 = std::holds_alternative<wire::Ipv6Pair>(destinations[to].addresses);
    for (const unsigned dscp : dscps) add(to, ipv6 ? 6 : 4, dscp, destinations[to]);
  }
}

void Paths::add(uint32_t to, unsigned ip_version, unsigned dscp, wire::FrameSpec spec) {
  if (find_built(to, ip_version, dscp) != kNone) return;
  const uint16_t index = build(dscp, spec);
  if (dscp == 0) {
    plain_[slot(to, ip_version)] = index;
  } else {
    marked_.push_back({slot(to, ip_version), dscp, index});
  }
}

uint16_t Paths::build(unsigned dscp, wire::FrameSpec spec) {
  spec.traffic_class = static_cast<uint8_t>(dscp << 2);
  templates_.emplace_back(spec);
  return static_cast<uint16_t>(templates_.size() - 1);
}

wire::FrameSpec Paths::spec_of(const config::Topology& topology, uint32_t host, size_t to,
                               unsigned ip_version) {
  const config::Host& here = topology.hosts[host];
  const config::Interface& own = topology.interface_of(here);
  wire::FrameSpec spec;
  spec.source_mac = own.mac;
  spec.destination_mac = topology.links[here.link].ends[1 - here.end].mac;
  if (to >= topology.hosts.size()) {
    // The next hop is a router: its own MAC, not the group's, reaches it on any port.
    const config::Tree& tree = topology.trees[to - topology.hosts.size()];
    set_addresses(spec, ip_version, own, tree.ipv4, tree.ipv6);
  } else {
    const config::Interface& peer = topology.interface_of(topology.hosts[to]);
    set_addresses(spec, ip_version, own, peer.ipv4.address, peer.ipv6.address);
  }
  spec.destination_port = topology.run.udp_port;
  return spec;
}

uint16_t Paths::find(uint32_t to, unsigned ip_version, unsigned dscp) {
  if (topology_ == nullptr) return find_built(to, ip_version, dscp);
  const auto [path, fresh] = on_demand_.emplace(std::pair(slot(to, ip_version), dscp), kNone);
  if (fresh && templates_.size() < kNone)
    path->second = build(dscp, spec_of(*topology_, host_, to, ip_version));
  return path->second;
}

uint16_t Paths::find_built(uint32_t to, unsigned ip_version, unsigned dscp) const {
  const size_t place = slot(to, ip_version);
  if (dscp == 0) return plain_[place];
  for (const Marked& m : marked_)
    if (m.slot == place && m.dscp == dscp) return m.path;
  return kNone;
}

}  // namespace turnpike::sender
