// SPDX-License-Identifier: BSD-3-Clause
#include "router/parts.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/config/link_param.h"

namespace turnpike::router {
namespace {

constexpr int64_t kMinDatagram = 20;  // B: smallest datagram in a buffer
/// Headroom of the packet pool, per port and worker.
constexpr uint32_t kHeadroomPerPort = 4 * kBurst;

/// By LinkPacket::group.
std::vector<double> weights_of(const config::Topology& topology) {
  std::vector<double> weights{kNoGroupWeight};
  for (const config::Group& g : topology.groups) weights.push_back(g.weight);
  return weights;
}

bool is_host(const config::Topology& topology, const std::string& node) {
  // There are fewer routers, and most links of large networks end at one.
  const auto is_node = [&](const auto& n) { return n.name == node; };
  return std::ranges::none_of(topology.routers, is_node) &&
         std::ranges::any_of(topology.hosts, is_node);
}

/// Packet buffers in a queue full of MTU-sized packets.
uint32_t full_packets(const EgressLink& link, uint16_t mtu) {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(link.buffer / (mtu + link.overhead), kBurst, UINT32_MAX / kBurst));
}

}  // namespace

Audited audited_packets(const config::Topology& topology) {
  const std::string* known = nullptr;  // the last law's protocol: most links have the same
  std::optional<size_t> audit;
  for (const config::Link& link : topology.links)
    for (const config::Direction& d : link.directions) {
      if (known == nullptr || *known != d.law.protocol) audit = config::link_param(d.law, "audit");
      known = &d.law.protocol;
      if (!audit || d.law.params[*audit] == 0) continue;
      const Protocol* protocol = find_protocol(d.law.protocol);
      return {protocol->id, protocol->charge};
    }
  return {};
}

std::unique_ptr<EgressLink> make_link(const config::Topology& topology, size_t node, size_t l,
                                      const RouterOptions& options, const Audited& audited,
                                      const CustomerTable* customers) {
  const config::Router& self = topology.routers[node];
  const config::Link& link = topology.links[self.links[l]];
  const size_t direction = link.end_at(self.name);
  auto e = std::make_unique<EgressLink>(link, direction, options.workers, topology.run.seed,
                                        options.find);
  if (e->traits.groups && customers != nullptr) {
    e->law->set_groups(weights_of(topology));
    e->groups = customers->groups();
  }
  const bool last = is_host(topology, link.ends[1 - direction].node);
  if (last || self.enforcement) e->audited = audited;
  for (unsigned w = 0; w < options.workers && last && audited.charges != nullptr; ++w)
    e->audits.push_back(std::make_unique<BalanceAudit>());
  return e;
}

uint32_t slots_for(const EgressLink& link, uint32_t pool) {
  const int64_t by_bytes = link.buffer / (kMinDatagram + link.overhead) + 1;
  return static_cast<uint32_t>(std::clamp<int64_t>(by_bytes, kBurst, pool));
}

BufferShare buffer_share(const config::Topology& topology, size_t node,
                         const RouterOptions& options, std::span<EgressLink* const> links,
                         rte_mempool* pool) {
  const config::Router& self = topology.routers[node];
  if (!options.share_pool) return {};
  std::vector<uint32_t> full;
  for (size_t l = 0; l < links.size(); ++l)
    full.push_back(full_packets(*links[l], topology.links[self.links[l]].mtu));
  const auto headroom = static_cast<uint32_t>(links.size() * options.workers * kHeadroomPerPort);
  return {pool, full, headroom};
}

std::vector<config::SourceCheck> source_checks(const config::Topology& topology, size_t node) {
  const config::Router& router = topology.routers[node];
  std::vector<config::SourceCheck> checks;
  for (const size_t l : router.links) {
    const config::Link& link = topology.links[l];
    checks.push_back(link.directions[1 - link.end_at(router.name)].source_check);
  }
  return checks;
}

}  // namespace turnpike::router
