// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/link_queues.h"

#include <rte_build_config.h>

namespace turnpike::router {
namespace {

// Beyond DPDK's own numbers.
constexpr size_t kFirstVlanPort = RTE_MAX_ETHPORTS;

}  // namespace

LinkQueues::LinkQueues(const config::Topology& topology, size_t node,
                       std::span<const LinkDevice> devices, std::span<Port> ports)
    : ports_(ports), by_queue_(ports.size()) {
  const config::Router& self = topology.routers[node];
  std::vector<std::vector<VlanTrunk::Member>> members(ports.size());
  for (size_t l = 0; l < devices.size(); ++l) {
    const config::Link& link = topology.links[self.links[l]];
    const size_t port = devices[l].port;
    places_.push_back({port, members[port].size()});
    if (link.ends[link.end_at(self.name)].tagged_port)
      members[port].push_back(
          {.vid = link.vlan, .mbuf_port = static_cast<uint16_t>(kFirstVlanPort + l)});
  }
  for (size_t p = 0; p < ports.size(); ++p)
    for (uint16_t q = 0; q < ports[p].queues() && !members[p].empty(); ++q)
      by_queue_[p].push_back(std::make_unique<VlanTrunk>(ports[p].queue(q), members[p]));
}

QueuePair& LinkQueues::at(size_t link, uint16_t queue) {
  const auto [port, index] = places_[link];
  if (by_queue_[port].empty()) return ports_[port].queue(queue);
  return by_queue_[port][queue]->link(index);
}

uint64_t LinkQueues::without_room(size_t port) const {
  uint64_t sum = 0;
  for (const auto& trunk : by_queue_[port]) sum += trunk->without_room();
  return sum;
}

std::optional<size_t> LinkQueues::link_of(uint16_t mbuf_port) {
  if (mbuf_port < kFirstVlanPort) return {};
  return mbuf_port - kFirstVlanPort;
}

}  // namespace turnpike::router
