// SPDX-License-Identifier: BSD-3-Clause
#include "lab/simulator/world.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <rte_ether.h>

#include "router/reload/plan.h"
#include "sender/sizing.h"

namespace turnpike::lab {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;  // no node plays this host
constexpr size_t kBuffersPerNode = 1024;  // bursts and caches
// Records of packets in flight, a lower bound. Only used records take memory, and a flow that
// starts at line rate into a narrow link loses nearly all of its packets.
constexpr size_t kMinRecords = size_t{1} << 20;
constexpr uint32_t kFirstStream = 1U << 16;  // of random numbers; those before are the traffic's
constexpr size_t kBuffersPerThread = 1024;   // in its cache of free ones
// Polls in a window from which on several threads play it, if there are several. An empty window
// costs threads some microseconds, and a poll takes about one.
constexpr double kWorthThreads = 32;
constexpr double kMemory = 0.1;  // weight of the last window in the average of polls

sender::Sizing size_of_all(const config::Topology& t, const sender::Traces& traces) {
  std::vector<uint32_t> hosts;
  for (uint32_t i = 0; i < t.hosts.size(); ++i) hosts.push_back(i);
  return sender::size_of(t, hosts, traces);
}

/// A packet has one buffer for its whole life, in which its acknowledgement comes back, too.
size_t buffers_of(const config::Topology& t, const sender::Sizing& size) {
  return size.packets + kBuffersPerNode * t.hosts.size();
}

/// A copy on a tree takes a buffer for its headers, and one that refers to the packet's payload. A
/// tunnel's packet is acknowledged in a buffer of its own.
size_t router_buffers_of(const config::Topology& t, const sender::Sizing& size) {
  return kBuffersPerNode * std::max<size_t>(t.routers.size(), 1) +
         (t.trees.empty() ? 0 : 2 * size.packets) + (t.gateways.empty() ? 0 : size.packets);
}

/// The smallest buffer that holds the largest frame: no port writes into these buffers.
uint16_t data_room(const config::Topology& t) {
  constexpr uint32_t kMin = 512, kLine = 64;  // B
  uint32_t largest = kMin;
  for (const config::Link& link : t.links) largest = std::max<uint32_t>(largest, link.mtu);
  const uint32_t room = RTE_PKTMBUF_HEADROOM + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + largest;
  return static_cast<uint16_t>(std::min<uint32_t>(RTE_ALIGN_CEIL(room, kLine), UINT16_MAX));
}

/// Ticks are as coarse as the world's quantum: each level of a wheel that a timer passes costs a
/// poll.
unsigned tick_shift(Nanos quantum) {
  constexpr int64_t kFinest = 128;  // ns
  const auto tick = static_cast<uint64_t>(std::max(quantum.count(), kFinest));
  return static_cast<unsigned>(std::bit_width(tick)) - 1;
}

bool is_router(const config::Topology& t, const std::string& node) {
  return std::ranges::find(t.routers, node, &config::Router::name) != t.routers.end();
}

size_t node_of(const config::Topology& t, const router::Router& router) {
  const auto at = std::ranges::find(t.routers, router.name(), &config::Router::name);
  return static_cast<size_t>(at - t.routers.begin());
}

const config::Link* named_link(const config::Topology& t, const std::string& name) {
  const auto at = std::ranges::find(t.links, name, &config::Link::name);
  return at == t.links.end() ? nullptr : &*at;
}

/// Shaped routers pace their packets; hosts and line-rate routers rely on their port.
SimLinkOptions options_of(const config::Topology& t, size_t link, size_t direction, uint64_t seed) {
  const config::Direction& d = t.links[link].directions[direction];
  const bool shaped =
      d.drain == config::Drain::kShaped && is_router(t, t.links[link].ends[direction].node);
  return {.rate = shaped ? 0 : bytes_per_second(d.rate),
          .delay = d.delay,
          .jitter = d.jitter,
          .loss = d.loss,
          .reorder = d.reorder,
          .overhead = static_cast<uint32_t>(d.overhead.count()),
          .seed = seed,
          .stream = kFirstStream + static_cast<uint32_t>(2 * link + direction)};
}

}  // namespace

// Threads that have played a part take another one: more parts than threads balance the windows.
uint32_t World::parts_for(unsigned threads) {
  constexpr uint32_t kPartsEach = 4;
  return threads > 1 ? kPartsEach * threads : 1;
}

World::Buffers World::buffers(const config::Topology& t, const sender::Traces& traces) {
  const sender::Sizing size = size_of_all(t, traces);
  return {.packets = buffers_of(t, size) + router_buffers_of(t, size),
          .bytes_each = Pool::memory(1, data_room(t)),
          .size = size};
}

size_t World::table_memory(const config::Topology& t, const config::Router& router) {
  constexpr size_t kLarge = size_t{96} << 20, kTree = size_t{1} << 18;
  if (fib_kind(t) == router::FibKind::kTable) return kLarge;
  const size_t own = 4 * router.links.size();  // its addresses and subnets
  return kTree + router::Fib::memory(router.ipv4_routes.size() + own,
                                     router.ipv6_routes.size() + own, router::FibKind::kTree);
}

unsigned World::memory_mb(const config::Topology& t, const sender::Traces& traces) {
  constexpr size_t kBase = 128;  // EAL
  // A queue doubles when it is full, and keeps the old ring while it copies.
  size_t rings = 4 * buffers_of(t, size_of_all(t, traces)) * sizeof(router::QueuedPacket);
  size_t customers = 0, tables = 0;
  for (const config::Router& r : t.routers) tables += table_memory(t, r);
  for (const config::Router& r : t.routers)
    customers += router::CustomerTable::memory(t, r) + router::route_table_memory(r).dpdk;
  for (const config::Router& r : t.routers)
    rings += r.links.size() * r.lcores.size() * kMaxClasses *
             router::LinkRing::memory(router::LinkRing::kFirstSlots);
  return static_cast<unsigned>(kBase + ((rings + customers + tables) >> 20));
}

tl::expected<std::unique_ptr<World>, std::string> World::make(const config::Topology& t,
                                                              sender::OutcomeSink& outcomes,
                                                              const Options& options) {
  const auto pool = [&](const char* name, size_t buffers) {
    return Pool::create(
        name,
        {.mbufs = static_cast<uint32_t>(buffers), .data_room = data_room(t), .own_memory = true});
  };
  const sender::Traces traces(t);
  const sender::Sizing size = size_of_all(t, traces);
  Cut parts = cut(t, parts_for(options.threads));
  const size_t cached = parts.parts * kBuffersPerThread;
  auto sources = pool("sources", buffers_of(t, size) + cached);
  auto routers = pool("routers", router_buffers_of(t, size) + cached);
  if (!sources) return tl::unexpected(sources.error());
  if (!routers) return tl::unexpected(routers.error());
  std::unique_ptr<World> w(
      new World(t, std::move(parts), std::move(*sources), std::move(*routers), outcomes, options));
  w->make_parts(traces);
  w->number_nodes();
  w->lay_cables(options);
  for (size_t r = 0; r < t.routers.size(); ++r)
    if (auto added = w->add_router(r, options); !added) return tl::unexpected(added.error());
  if (auto added = w->add_gateways(options); !added) return tl::unexpected(added.error());
  for (uint32_t h = 0; h < t.hosts.size(); ++h) {
    if (w->host_nodes_[h] == kNobody) continue;
    if (auto added = w->add_host(h, traces, options); !added) return tl::unexpected(added.error());
  }
  return w;
}

void World::make_parts(const sender::Traces& traces) {
  for (uint32_t p = 0; p < cut_.parts; ++p) {
    std::vector<uint32_t> hosts;
    for (uint32_t h = 0; h < cut_.host_parts.size(); ++h)
      if (cut_.host_parts[h] == p) hosts.push_back(h);
    const size_t records = sender::size_of(topology_, hosts, traces).records;
    parts_.push_back(std::make_unique<Part>(std::max(records, kMinRecords), outcomes_));
  }
}

uint32_t World::add_node(uint32_t part) {
  const auto number = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({.part = part, .place = parts_[part]->schedule.add()});
  parts_[part]->nodes.push_back(number);
  return number;
}

void World::number_nodes() {
  for (size_t r = 0; r < topology_.routers.size(); ++r) {
    worker_nodes_.emplace_back();
    for (size_t i = 0; i < topology_.routers[r].lcores.size(); ++i)
      worker_nodes_.back().push_back(add_node(cut_.router_parts[r]));
  }
  for (size_t h = 0; h < topology_.hosts.size(); ++h)
    host_nodes_.push_back(topology_.hosts[h].external ? kNobody : add_node(cut_.host_parts[h]));
}

void World::lay_cables(const Options& options) {
  const config::Topology& t = topology_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> polled_by;
  for (size_t r = 0; r < t.routers.size(); ++r) polled_by[t.routers[r].name] = worker_nodes_[r];
  for (size_t h = 0; h < t.hosts.size(); ++h)
    if (host_nodes_[h] != kNobody) polled_by[t.hosts[h].name] = {host_nodes_[h]};
  links_.reserve(t.links.size());
  for (size_t l = 0; l < t.links.size(); ++l) {
    const auto& ends = t.links[l].ends;
    const std::array<std::span<const uint32_t>, 2> polled{polled_by[ends[0].node],
                                                          polled_by[ends[1].node]};
    // No node polls an external host: it is in the part of the other end.
    const auto part_at = [&](size_t end) {
      const auto of = polled[end].empty() ? polled[1 - end] : polled[end];
      return of.empty() ? 0 : nodes_[of[0]].part;
    };
    const std::array part{part_at(0), part_at(1)};
    std::array<SimLinkNodes, 2> nodes;
    for (size_t end = 0; end < 2; ++end) {
      nodes[end].schedule = &parts_[part[end]]->schedule;
      for (const uint32_t node : polled[end]) nodes[end].nodes.push_back(nodes_[node].place);
    }
    links_.emplace_back(
        std::array{options_of(t, l, 0, options.seed), options_of(t, l, 1, options.seed)}, nodes);
    for (size_t end = 0; end < 2 && part[0] != part[1]; ++end) {
      parts_[part[end]]->out.push_back(&links_[l].line(end));
      parts_[part[1 - end]]->in.push_back(&links_[l].line(end));
    }
  }
}

tl::expected<void, std::string> World::add_router(size_t r, const Options& options) {
  const config::Router& self = topology_.routers[r];
  std::vector<std::vector<QueuePair*>> ports;
  for (const size_t l : self.links) {
    const size_t end = topology_.links[l].end_at(self.name);
    ports.emplace_back();
    for (size_t w = 0; w < worker_nodes_[r].size(); ++w)
      ports.back().push_back(links_[l].end(end, w));
  }
  const std::vector<rte_mempool*> pools(worker_nodes_[r].size(), router_pool_.get());
  router::RouterOptions o;
  o.workers = static_cast<unsigned>(worker_nodes_[r].size());
  o.slack = std::max(options.slack, topology_.run.quantum);
  o.most_held = source_pool_.get()->size;
  o.growing = true;
  o.fib = fib_kind(topology_);
  o.find = options.find;
  auto made = router::Router::make(topology_, r, ports, pools, o);
  if (!made) return tl::unexpected(made.error());
  routers_.push_back(std::move(*made));
  for (unsigned w = 0; w < o.workers; ++w) {
    Node& node = nodes_[worker_nodes_[r][w]];
    node.worker = &routers_.back()->worker(w);
    node.drains = worker_nodes_[r].front();  // every worker has a queue at every port
  }
  return {};
}

tl::expected<void, std::string> World::add_gateways(const Options& options) {
  for (size_t i = 0; i < topology_.gateways.size(); ++i) {
    auto made = gateway::Gateway::make(topology_, i,
                                       {.pool = router_pool_.get(),
                                        .seed = options.seed + i,
                                        .tick_shift = tick_shift(topology_.run.quantum),
                                        .populated = false});
    if (!made) return tl::unexpected(made.error());
    routers_[topology_.gateways[i].router]->worker(0).set_tunnels(made->get());
    gateways_.push_back(std::move(*made));
  }
  return {};
}

tl::expected<void, std::string> World::add_host(uint32_t h, const sender::Traces& traces,
                                                const Options& options) {
  const config::Host& self = topology_.hosts[h];
  Part& part = *parts_[cut_.host_parts[h]];
  QueuePair* const port = links_[self.link].end(self.end, 0);
  const sender::PortBinding binding{h, port};
  auto made = sender::Sender::make(topology_, {.bindings = {&binding, 1},
                                               .pool = source_pool_.get(),
                                               .zeroed = true,
                                               .outcomes = part.outcomes,
                                               .seed = options.seed,
                                               .tick_shift = tick_shift(topology_.run.quantum),
                                               .records = &part.records,
                                               .populated = false,
                                               .traces = &traces});
  if (!made) return tl::unexpected(made.error());
  hosts_.push_back(std::move(*made));
  senders_.push_back(hosts_.back().get());
  nodes_[host_nodes_[h]].sender = senders_.back();
  return {};
}

void World::set_path(size_t link, Nanos delay, double loss) {
  links_[link].set_path(delay, loss);
  if (cut_.crosses(link)) lookahead_ = std::min(lookahead_, delay);
}

void World::poll(Part& part, uint32_t place) {
  Node& node = nodes_[part.nodes[place]];
  const Nanos now = part.now;
  ++part.polls;
  if (now < node.held_until) return part.schedule.set(place, node.held_until);
  const Nanos held = std::exchange(node.held, Nanos(0));
  Nanos next;
  if (node.worker == nullptr) {
    if (held > Nanos(0)) node.sender->stalled(now);
    next = node.sender->poll(now);
  } else {
    if (held > Nanos(0)) node.worker->stall(now - held, now);
    next = node.worker->poll(now);
    const uint32_t drains = nodes_[node.drains].place;  // of the same router
    if (drains != place && node.worker->moved()) part.schedule.wake(drains, now);
  }
  part.schedule.set(place, next);
}

Nanos World::poll_time(const Part& part, Nanos at) const {
  const int64_t quantum = topology_.run.quantum.count();
  if (at <= part.now) return part.now;
  if (quantum == 0 || at >= kNever / 2) return at;
  return Nanos((at.count() + quantum - 1) / quantum * quantum);
}

Nanos World::next_poll() const {
  Nanos next = kNever;
  for (const auto& part : parts_)
    next = std::min(next, poll_time(*part, std::min(part->schedule.next(), part->sent)));
  return next;
}

// Polls the part's nodes that are due before `end`.
void World::play_window(Part& part, Nanos end) {
  for (SimChannel* channel : part.out) channel->begin_window();
  for (SimChannel* channel : part.in) channel->deliver();
  part.polls = 0;
  for (;;) {
    const Nanos next = poll_time(part, part.schedule.next());
    if (next >= end) break;
    part.now = next;
    poll(part, part.schedule.first());
  }
  find_sent(part);
}

void World::find_sent(Part& part) {
  part.sent = kNever;
  for (const SimChannel* channel : part.out) part.sent = std::min(part.sent, channel->earliest());
}

void World::run_until(Nanos end) {
  outcomes_.keep();
  for (const auto& part : parts_) find_sent(*part);
  for (;;) {
    const Nanos begin = next_poll();
    if (begin > end) break;
    const Nanos until = lookahead_ <= end - begin ? begin + lookahead_ : end + 1_ns;
    const auto play = [&](size_t p) { play_window(*parts_[p], until); };
    const bool parallel = parts_.size() > 1 && busy_ >= kWorthThreads;
    if (parallel)
      threads_.for_each(parts_.size(), play);
    else
      for (size_t p = 0; p < parts_.size(); ++p) play(p);
    uint64_t polls = 0, longest = 0;
    for (const auto& part : parts_) {
      polls += part->polls;
      longest = std::max(longest, part->polls);
    }
    windows_.polls += polls;
    windows_.longest += longest;
    busy_ += kMemory * (static_cast<double>(polls) - busy_);
    ++windows_.all;
    windows_.parallel += parallel;
  }
  now_ = end;
  for (const auto& part : parts_) part->now = end;
  outcomes_.report_kept(parts_);
}

tl::expected<void, std::string> World::reload(const config::Topology& wanted) {
  auto next = std::make_unique<const config::Topology>(wanted);
  const config::Topology& running = reloaded_ ? *reloaded_ : topology_;
  std::vector<router::Router::ChangePtr> changes;
  std::vector<bool> changes_at;  // by router: it has to be polled
  std::string why;
  for (const auto& r : routers_) {
    auto change = r->prepare(running, wanted);
    if (!change) {
      why += (why.empty() ? "" : "\n") + r->name() + ": " + change.error();
      continue;
    }
    changes.push_back(std::move(*change));
    changes_at.push_back(router::plan(running, wanted, node_of(running, *r)).applies());
  }
  std::vector<std::unique_ptr<gateway::KeyRing>> keys;
  for (const auto& gateway : gateways_) {
    auto prepared = gateway->prepare_keys(wanted);
    if (prepared) {
      keys.push_back(std::move(*prepared));
    } else {
      why += (why.empty() ? "" : "\n") + prepared.error();
    }
  }
  if (!why.empty()) return tl::unexpected(why);
  auto change = changes.begin();
  for (const auto& r : routers_) {
    r->apply(**change);
    r->apply_routes(**change++);
  }
  for (size_t g = 0; g < gateways_.size(); ++g) {
    gateways_[g]->take_customers(wanted);
    gateways_[g]->take_keys(keys[g]);
  }
  for (size_t r = 0; r < routers_.size(); ++r)
    for (const uint32_t node : worker_nodes_[r])
      if (changes_at[r]) wake(node, now_);
  for (size_t l = 0; l < links_.size(); ++l)
    for (size_t d = 0; d < 2; ++d)
      if (const config::Link* link = named_link(wanted, topology_.links[l].name);
          is_router(topology_, topology_.links[l].ends[d].node) && link != nullptr)
        links_[l].set_rate(
            d, options_of(wanted, static_cast<size_t>(link - wanted.links.data()), d, 1).rate);
  reloaded_ = std::move(next);
  return {};
}

bool World::catch_up(Nanos now) {
  Part& part = *parts_[0];
  part.now = now_ = std::max(now_, now);
  const bool due = part.schedule.next() <= now_;
  while (part.schedule.next() <= now_) poll(part, part.schedule.first());
  return due;
}

void World::stall(uint32_t i, Nanos time) {
  nodes_[i].held_until = now_ + time;
  nodes_[i].held = time;
}

void World::stall_router(size_t i, Nanos time) {
  for (const uint32_t node : worker_nodes_[i]) stall(node, time);
}

void World::stall_hosts(Nanos time) {
  for (const uint32_t node : host_nodes_)
    if (node != kNobody) stall(node, time);
}

}  // namespace turnpike::lab
