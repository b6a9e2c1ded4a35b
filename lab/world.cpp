// SPDX-License-Identifier: BSD-3-Clause
#include "lab/world.h"

#include <algorithm>

#include "common/program/attachment.h"
#include "sender/sizing.h"

namespace turnpike::lab {
namespace {

constexpr uint32_t kRing = 4096;  // packets: what a cable takes between two polls

size_t index_of_host(const config::Topology& t, const std::string& name) {
  const auto at = std::ranges::find(t.hosts, name, &config::Host::name);
  return static_cast<size_t>(at - t.hosts.begin());
}

size_t index_of_router(const config::Topology& t, const std::string& name) {
  const auto at = std::ranges::find(t.routers, name, &config::Router::name);
  return static_cast<size_t>(at - t.routers.begin());
}

std::vector<uint32_t> played_hosts(const config::Topology& t) {
  std::vector<uint32_t> hosts;
  for (uint32_t i = 0; i < t.hosts.size(); ++i)
    if (!t.hosts[i].external) hosts.push_back(i);
  return hosts;
}

/// As many for what routers hold as the hosts need.
size_t buffers_of(const config::Topology& t) {
  return 2 * sender::size_of(t, played_hosts(t)).buffers;
}

uint16_t data_room(const config::Topology& t) {
  uint32_t largest = 0;
  for (const config::Link& link : t.links) largest = std::max<uint32_t>(largest, link.mtu);
  return Pool::room_for(largest);
}

}  // namespace

unsigned World::buffers_mb(const config::Topology& t) {
  return static_cast<unsigned>(Pool::memory(buffers_of(t), data_room(t)) >> 20);
}

tl::expected<std::unique_ptr<World>, std::string> World::make(const config::Topology& t,
                                                              sender::OutcomeSink& outcomes,
                                                              const Options& options) {
  const std::vector<uint32_t> hosts = played_hosts(t);
  const size_t buffers = buffers_of(t);
  auto pool =
      Pool::create("lab", {.mbufs = static_cast<uint32_t>(buffers), .data_room = data_room(t)});
  if (!pool) return tl::unexpected(pool.error());
  std::unique_ptr<World> w(new World(t, std::move(*pool), buffers));

  // By router and link of the router's; the hosts' doors come last, by host.
  std::vector<std::vector<QueuePair*>> doors(t.routers.size() + 1);
  for (size_t r = 0; r < t.routers.size(); ++r) doors[r].resize(t.routers[r].links.size());
  doors.back().resize(t.hosts.size());
  for (size_t l = 0; l < t.links.size(); ++l)
    if (auto joined = w->join(l, doors); !joined) return tl::unexpected(joined.error());

  for (size_t r = 0; r < t.routers.size(); ++r) {
    std::vector<std::vector<QueuePair*>> by_link;
    for (QueuePair* door : doors[r]) by_link.push_back({door});
    rte_mempool* const mempool = w->pool_.get();
    router::RouterOptions router_options;
    router_options.slack = options.slack;
    auto made = router::Router::make(t, r, by_link, {&mempool, 1}, router_options);
    if (!made) return tl::unexpected(made.error());
    w->routers_.push_back(std::move(*made));
    w->nodes_.push_back({.worker = &w->routers_.back()->worker(0), .doors = doors[r]});
  }
  std::vector<sender::Plug> plugs;
  plugs.reserve(hosts.size());
  for (const uint32_t h : hosts) plugs.push_back({h, doors.back()[h]});
  auto made = sender::Sender::make(
      t, {.plugs = plugs, .pool = w->pool_.get(), .outcomes = &outcomes, .seed = options.seed});
  if (!made) return tl::unexpected(made.error());
  w->sender_ = std::move(*made);
  w->nodes_.push_back({.doors = doors.back()});
  return w;
}

tl::expected<void, std::string> World::join(size_t l, std::vector<std::vector<QueuePair*>>& doors) {
  const config::Link& link = topology_.links[l];
  auto cable = RingCable::create(link.name, kRing);
  if (!cable) return tl::unexpected(cable.error());
  cables_.push_back(std::move(*cable));
  for (size_t end = 0; end < 2; ++end) {
    QueuePair* queue = door(cables_.back().end(end), link, end);
    const std::string& name = link.ends[end].node;
    const size_t host = index_of_host(topology_, name);
    if (host < topology_.hosts.size()) {
      doors.back()[host] = queue;
      continue;
    }
    const size_t router = index_of_router(topology_, name);
    const auto& links = topology_.routers[router].links;
    doors[router][static_cast<size_t>(std::ranges::find(links, l) - links.begin())] = queue;
  }
  return {};
}

QueuePair* World::door(RingQueue& end, const config::Link& link, size_t at) {
  auto wire = wire_at(end, link, at, false, buffers_);
  if (!wire) return &end;
  return wires_.emplace_back(std::move(wire)).get();
}

Nanos World::due(const Node& node) {
  Nanos due = node.next;
  for (const QueuePair* door : node.doors)
    if (door != nullptr) due = std::min(due, door->next_deadline());
  return std::max(due, node.held_until);
}

void World::poll(Node& node) {
  const Nanos held = std::exchange(node.held, Nanos(0));
  if (node.worker == nullptr) {
    if (held > Nanos(0)) sender_->stalled(now_);
    node.next = sender_->poll(now_);
  } else {
    if (held > Nanos(0)) node.worker->missed(now_ - held, now_);
    node.next = node.worker->poll(now_);
  }
}

void World::run_until(Nanos end) {
  for (;;) {
    Nanos next = kNever;
    for (Node& node : nodes_) {
      if (due(node) <= now_) poll(node);
    }
    for (const Node& node : nodes_) next = std::min(next, due(node));
    if (next > end) break;
    now_ = std::max(now_, next);
  }
  now_ = end;
}

void World::stall(size_t node, Nanos time) {
  Node& n = nodes_[std::min(node, nodes_.size() - 1)];
  n.held_until = now_ + time;
  n.held = time;
}

}  // namespace turnpike::lab
