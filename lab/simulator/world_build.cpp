// SPDX-License-Identifier: BSD-3-Clause
// Makes a world: its sizes, parts, nodes and links.
#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <rte_ether.h>

#include "lab/simulator/link_options.h"
#include "lab/simulator/world.h"
#include "sender/sizing.h"

namespace turnpike::lab {
namespace {

constexpr size_t kBuffersPerNode = 1024;  // bursts and caches
// Records of packets in flight, a lower bound. Only used records take memory, and a flow that
// starts at line rate into a narrow link loses nearly all of its packets.
constexpr size_t kMinRecords = size_t{1} << 20;
constexpr size_t kBuffersPerThread = 1024;  // in its cache of free ones
sender::Sizing size_of_all(const config::Topology& t, const sender::Traces& traces) {
  std::vector<uint32_t> hosts;
  for (uint32_t i = 0; i < t.hosts.size(); ++i) hosts.push_back(i);
  return sender::size_of(t, hosts, traces);
}

/// A packet has one buffer for its whole life, in which its acknowledgement comes back, too.
size_t buffers_of(const config::Topology& t, const sender::Sizing& size) {
  return size.packets + kBuffersPerNode * t.hosts.size();
}

/// Of these, those that are in use at a time: the pools' memory.
size_t used_buffers_of(const config::Topology& t, const sender::Sizing& size) {
  constexpr size_t kEach = 16;  // of a node: its last burst
  return size.likely + kEach * (t.hosts.size() + t.routers.size());
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

/// Prefixes of a router's own addresses and subnets, at most.
size_t own_prefixes(const config::Router& router) { return 4 * router.links.size(); }

/// Prefixes behind a gateway's peers.
size_t prefixes_behind(const config::Gateway& gateway) {
  size_t n = 0;
  for (const config::GatewayPeer& p : gateway.peers) n += p.ipv4.size() + p.ipv6.size();
  return n;
}

/// The kind of a table of so many prefixes. A table of DPDK's takes 32 MB and more for each IP
/// version, which a run fills at its start, and lookups in it miss the cache; the ranges of few
/// prefixes stay there. Tables for a thousand routers would not fit.
router::FibKind kind_for(const config::Topology& t, size_t prefixes) {
  constexpr size_t kFewPrefixes = 256, kMaxRouters = 16;
  return prefixes <= kFewPrefixes || t.routers.size() > kMaxRouters ? router::FibKind::kRanges
                                                                    : router::FibKind::kTable;
}

/// About as many B of EAL's memory as a table of kTable takes, of both IP versions.
constexpr size_t kTable = size_t{96} << 20;

/// Ticks are as coarse as the world's quantum: each level of a wheel that a timer passes costs a
/// poll.
unsigned tick_shift(Nanos quantum) {
  constexpr int64_t kFinest = 128;  // ns
  const auto tick = static_cast<uint64_t>(std::max(quantum.count(), kFinest));
  return static_cast<unsigned>(std::bit_width(tick)) - 1;
}

}  // namespace

// Threads that have played a part take another one: more parts than threads balance the windows.
uint32_t World::parts_for(unsigned threads) {
  constexpr uint32_t kPartsEach = 4;
  return threads > 1 ? kPartsEach * threads : 1;
}

World::Buffers World::buffers(const config::Topology& t, const sender::Traces& traces) {
  const sender::Sizing size = size_of_all(t, traces);
  return {.packets = used_buffers_of(t, size) + (t.trees.empty() ? 0 : 2 * size.likely) +
                     (t.gateways.empty() ? 0 : size.likely),
          .bytes_each = Pool::memory(1, data_room(t)),
          .size = size};
}

router::FibKind World::fib_kind(const config::Topology& t, const config::Router& router) {
  return kind_for(t, router.ipv4_routes.size() + router.ipv6_routes.size() + own_prefixes(router));
}

size_t World::table_memory(const config::Topology& t, const config::Router& router) {
  if (fib_kind(t, router) == router::FibKind::kTable) return kTable;
  const size_t own = own_prefixes(router);
  return router::Fib::memory(router.ipv4_routes.size() + own, router.ipv6_routes.size() + own,
                             router::FibKind::kRanges);
}

unsigned World::memory_mb(const config::Topology& t, const sender::Traces& traces) {
  constexpr size_t kBase = 128;  // EAL
  // A queue doubles when it is full, and keeps the old ring while it copies.
  const sender::Sizing size = size_of_all(t, traces);
  const size_t waiting =
      size.likely < size.packets ? used_buffers_of(t, size) : buffers_of(t, size);
  size_t rings = 4 * waiting * sizeof(router::QueuedPacket);
  size_t customers = 0, tables = 0;
  for (const config::Router& r : t.routers) {
    if (fib_kind(t, r) == router::FibKind::kTable)  // others take none of EAL's
      tables += table_memory(t, r);
    customers += router::CustomerTable::memory(t, r) + router::route_table_memory(r).dpdk;
    rings += r.links.size() * r.lcores.size() * kMaxClasses *
             router::LinkRing::memory(router::LinkRing::kFirstSlots);
  }
  for (const config::Gateway& g : t.gateways) {
    if (kind_for(t, prefixes_behind(g)) == router::FibKind::kTable) tables += kTable;
    rings += gateway::HandOver::memory(static_cast<unsigned>(t.routers[g.router].lcores.size()));
  }
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
  const sender::Traces own = options.traces == nullptr ? sender::Traces(t) : sender::Traces();
  const sender::Traces& traces = options.traces == nullptr ? own : *options.traces;
  const sender::Sizing size = size_of_all(t, traces);
  Cut parts = cut(t, parts_for(options.threads));
  const size_t cached = parts.parts * kBuffersPerThread;
  auto sources = pool("sources", buffers_of(t, size) + cached);
  auto routers = pool("routers", router_buffers_of(t, size) + cached);
  if (!sources) return tl::unexpected(sources.error());
  if (!routers) return tl::unexpected(routers.error());
  std::unique_ptr<World> w(
      new World(t, std::move(parts), std::move(*sources), std::move(*routers), outcomes, options));
  if (auto done = w->make_parts(traces, options.seed); !done) return tl::unexpected(done.error());
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

tl::expected<void, std::string> World::make_parts(const sender::Traces& traces, uint64_t seed) {
  for (uint32_t p = 0; p < cut_.parts; ++p) {
    std::vector<uint32_t> hosts;
    for (uint32_t h = 0; h < cut_.host_parts.size(); ++h)
      if (cut_.host_parts[h] == p) hosts.push_back(h);
    const size_t records = sender::size_of(topology_, hosts, traces).records;
    auto arrivals = sender::SharedArrivals::make(topology_, seed, hosts, traces);
    if (!arrivals) return tl::unexpected(arrivals.error());
    parts_.push_back(
        std::make_unique<Part>(std::max(records, kMinRecords), std::move(*arrivals), outcomes_));
  }
  return {};
}

uint32_t World::add_node(uint32_t part, size_t inputs) {
  const auto number = static_cast<uint32_t>(nodes_.size());
  Part& p = *parts_[part];
  nodes_.push_back({.part = part, .place = p.schedule.add(), .input = p.inputs.size()});
  p.inputs.resize(p.inputs.size() + inputs);
  p.nodes.push_back(number);
  return number;
}

void World::number_nodes() {
  for (size_t r = 0; r < topology_.routers.size(); ++r) {
    worker_nodes_.emplace_back();
    for (size_t i = 0; i < topology_.routers[r].lcores.size(); ++i)
      worker_nodes_.back().push_back(
          add_node(cut_.router_parts[r], topology_.routers[r].links.size()));
  }
  for (size_t h = 0; h < topology_.hosts.size(); ++h)
    host_nodes_.push_back(topology_.hosts[h].external ? kNobody : add_node(cut_.host_parts[h], 1));
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
      for (const uint32_t node : polled[end])
        nodes[end].nodes.push_back(
            {nodes_[node].place, &parts_[part[end]]->inputs[nodes_[node].input++]});
    }
    links_.emplace_back(
        std::array{link_options(t, l, 0, options.seed), link_options(t, l, 1, options.seed)},
        nodes);
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
  o.fib = fib_kind(topology_, self);
  o.find = options.find;
  auto made = router::Router::make(topology_, r, ports, pools, o);
  if (!made) return tl::unexpected(made.error());
  routers_.push_back(std::move(*made));
  for (unsigned w = 0; w < o.workers; ++w) {
    Node& node = nodes_[worker_nodes_[r][w]];
    node.worker = &routers_.back()->worker(w);
    node.router = static_cast<uint32_t>(r);
    node.drains = worker_nodes_[r].front();  // every worker has a queue at every port
  }
  return {};
}

tl::expected<void, std::string> World::add_gateways(const Options& options) {
  for (size_t i = 0; i < topology_.gateways.size(); ++i) {
    const size_t r = topology_.gateways[i].router;
    const std::vector<uint32_t>& workers = worker_nodes_[r];
    auto made = gateway::Gateway::make(
        topology_, i,
        {.pool = router_pool_.get(),
         .lcores = static_cast<unsigned>(workers.size()),
         .seed = options.seed + i,
         .tick_shift = tick_shift(topology_.run.quantum),
         .populated = false,
         .fib = kind_for(topology_, prefixes_behind(topology_.gateways[i]))});
    if (!made) return tl::unexpected(made.error());
    for (unsigned w = 0; w < workers.size(); ++w) {
      routers_[r]->worker(w).set_tunnels(&(*made)->shard(w));
      if (workers.size() > 1) nodes_[workers[w]].gateway = made->get();
    }
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
                                               .traces = &traces,
                                               .arrivals = &part.arrivals});
  if (!made) return tl::unexpected(made.error());
  hosts_.push_back(std::move(*made));
  senders_.push_back(hosts_.back().get());
  nodes_[host_nodes_[h]].sender = senders_.back();
  return {};
}

}  // namespace turnpike::lab
