// SPDX-License-Identifier: BSD-3-Clause
#include "router/router.h"

#include <algorithm>

#include "common/config/address.h"
#include "common/config/link_param.h"
#include "common/wire/bytes.h"

namespace turnpike::router {

namespace {

constexpr int64_t kMinDatagram = 20;  // B: smallest datagram in a buffer

/// Slots for the packets that a link's buffer can hold, at most `pool`.
uint32_t slots_for(const EgressLink& link, uint32_t pool) {
  const int64_t by_bytes = link.buffer / (kMinDatagram + link.overhead) + 1;
  return static_cast<uint32_t>(std::clamp<int64_t>(by_bytes, kBurst, pool));
}

/// The packets that some link's law charges.
Audited audited_packets(const config::Topology& topology) {
  for (const config::Link& link : topology.links)
    for (const config::Direction& d : link.directions) {
      const auto audit = config::link_param(d.law, "audit");
      if (!audit || d.law.params[*audit] == 0) continue;
      const Protocol* protocol = find_protocol(d.law.protocol);
      return {protocol->id, protocol->charge};
    }
  return {};
}

/// An address as audits keep it: IPv4 as ::ffff:a.b.c.d.
std::string text_of(const config::Ipv6& address) {
  constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!std::equal(kMapped.begin(), kMapped.end(), address.begin()))
    return config::ipv6_text(address);
  return config::ipv4_text(wire::load_be32(address.data() + 12));
}

/// By LinkPacket::group.
std::vector<double> weights_of(const config::Topology& topology) {
  std::vector<double> weights{kNoGroupWeight};
  for (const config::Group& g : topology.groups) weights.push_back(g.weight);
  return weights;
}

bool is_host(const config::Topology& topology, const std::string& node) {
  return std::ranges::any_of(topology.hosts, [&](const config::Host& h) { return h.name == node; });
}

/// Packet buffers in a queue full of MTU-sized packets.
uint32_t full_packets(const EgressLink& link, uint16_t mtu) {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(link.buffer / (mtu + link.overhead), kBurst, UINT32_MAX / kBurst));
}

/// Headroom of the packet pool, per port and worker.
constexpr uint32_t kHeadroomPerPort = 4 * kBurst;

uint64_t sum(const std::vector<LinkShard>& shards, metrics::Counter LinkShard::*field) {
  uint64_t n = 0;
  for (const LinkShard& s : shards) n += (s.*field).read();
  return n;
}

LinkSnapshot snapshot_of(const EgressLink& link) {
  LinkSnapshot s;
  s.name = link.name;
  s.rate = link.rate;
  s.buffer = Bytes(link.buffer);
  s.rx_packets = sum(link.shards, &LinkShard::rx_packets);
  s.rx_bytes = sum(link.shards, &LinkShard::rx_bytes);
  s.tx_packets = sum(link.shards, &LinkShard::tx_packets);
  s.tx_bytes = sum(link.shards, &LinkShard::tx_bytes);
  s.stamped = sum(link.shards, &LinkShard::stamped);
  const uint64_t out = sum(link.shards, &LinkShard::out_packets);
  s.in_packets = sum(link.shards, &LinkShard::in_packets);
  s.held_packets = s.in_packets - out;
  s.offered_bytes = sum(link.shards, &LinkShard::offered_bytes);
  s.queued_bytes = static_cast<uint64_t>(link.queued());
  for (const LinkShard& shard : link.shards)
    s.waited += shard.waits.byte_seconds.load(std::memory_order_relaxed);
  for (const LinkShard& shard : link.shards)
    for (size_t r = 0; r < kDropReasons; ++r) s.drops[r] += shard.drops[r].read();
  if (link.law) {
    s.gauges.resize(LinkLaw::kMaxGauges);
    s.gauges.resize(link.law->gauges(s.gauges));
  }
  return s;
}

/// By link of the router: the check of what it receives there.
std::vector<config::SourceCheck> source_checks(const config::Topology& topology,
                                               const config::Router& router) {
  std::vector<config::SourceCheck> checks;
  for (const size_t l : router.links) {
    const config::Link& link = topology.links[l];
    checks.push_back(link.directions[1 - link.end_at(router.name)].source_check);
  }
  return checks;
}

}  // namespace

uint64_t LinkSnapshot::egress_drops() const {
  uint64_t n = 0;
  for (size_t r = 0; r < kDropReasons; ++r)
    if (at_egress(static_cast<DropReason>(r))) n += drops[r];
  return n;
}

uint64_t Snapshot::dropped() const {
  uint64_t n = 0;
  for (const uint64_t d : drops) n += d;
  return n;
}

tl::expected<std::unique_ptr<Router>, std::string> Router::make(
    const config::Topology& topology, size_t node,
    const std::vector<std::vector<QueuePair*>>& ports, std::span<rte_mempool* const> pools,
    const RouterOptions& options) {
  const config::Router& self = topology.routers[node];
  std::unique_ptr<Router> r(new Router);
  auto tables = Tables::build(topology, node, options.socket);
  if (!tables) return tl::unexpected(tables.error());
  r->tables_ = std::move(*tables);
  r->current_.store(r->tables_.get(), std::memory_order_release);
  r->counters_ = std::vector<WorkerCounters>(options.workers);
  if (self.enforcement) {
    auto enforcement = Enforcement::make(topology, node, options.workers, options.socket);
    if (!enforcement) return tl::unexpected(enforcement.error());
    r->enforcement_ = std::move(*enforcement);
    r->customers_ = topology.customers;
  } else if (CustomerTable::needed(topology, self)) {
    auto table = CustomerTable::build(topology, node, options.socket);
    if (!table) return tl::unexpected(table.error());
    r->table_ = std::move(*table);
  }
  const CustomerTable* customers =
      r->enforcement_ ? &r->enforcement_->customers() : r->table_.get();

  if (!r->tables_->trees().empty()) {
    r->multicast_ = MulticastState::make(*r->tables_, options.workers, options.socket);
    if (!r->multicast_) return tl::unexpected("no memory for the trees of " + self.name);
  }

  const Audited audited = audited_packets(topology);
  for (size_t l = 0; l < self.links.size(); ++l) {
    const config::Link& link = topology.links[self.links[l]];
    const size_t direction = link.end_at(self.name);
    auto e = std::make_unique<EgressLink>(link, direction, options.workers, topology.run.seed,
                                          options.find);
    if (e->traits.groups && customers != nullptr) {
      e->law->set_groups(weights_of(topology));
      e->groups = customers->groups();
    }
    const auto first = std::ranges::find_if(ports[l], [](QueuePair* p) { return p != nullptr; });
    if (first == ports[l].end())
      return tl::unexpected("no worker has a queue at link " + link.name);
    e->owner = static_cast<unsigned>(first - ports[l].begin());
    const bool last = is_host(topology, link.ends[1 - direction].node);
    if (last || self.enforcement) e->audited = audited;
    for (unsigned w = 0; w < options.workers && last && audited.charge_of != nullptr; ++w)
      e->audits.push_back(std::make_unique<BalanceAudit>());
    for (unsigned w = 0; w < options.workers; ++w) {
      if (e->drain == config::Drain::kLineRate && ports[l][w] != nullptr) continue;
      e->ring[w] =
          LinkRing::make(slots_for(*e, options.most_held != 0 ? options.most_held : pools[w]->size),
                         options.socket, e->traits.classes, options.growing);
      if (!e->ring[w]) return tl::unexpected("no memory for the queue of link " + link.name);
    }
    r->links_.push_back(std::move(e));
  }
  std::vector<uint32_t> full;
  for (size_t l = 0; l < self.links.size(); ++l)
    full.push_back(full_packets(*r->links_[l], topology.links[self.links[l]].mtu));
  const auto headroom =
      static_cast<uint32_t>(self.links.size() * options.workers * kHeadroomPerPort);
  for (unsigned w = 0; w < options.workers; ++w) {
    Worker::Parts parts;
    parts.index = w;
    parts.pool = pools[w];
    parts.counters = &r->counters_[w];
    parts.tables = &r->current_;
    parts.slack = options.slack;
    parts.multicast = r->multicast_.get();
    if (options.share_pool) parts.buffers = BufferShare(pools[w], full, headroom);
    parts.errors = {options.errors_per_second, options.errors_at_once};
    parts.enforcement = r->enforcement_.get();
    parts.customers = customers;
    parts.source_checks = source_checks(topology, self);
    for (size_t l = 0; l < r->links_.size(); ++l) {
      parts.links.push_back(r->links_[l].get());
      parts.ports.push_back(ports[l][w]);
    }
    r->workers_.push_back(std::make_unique<Worker>(parts));
  }
  return r;
}

Snapshot Router::snapshot() const {
  Snapshot s;
  s.received_by.resize(counters_.size());
  for (const auto& link : links_) {
    s.links.push_back(snapshot_of(*link));
    const LinkSnapshot& l = s.links.back();
    s.received += l.rx_packets;
    s.forwarded += l.tx_packets;
    s.held += l.held_packets;
    for (size_t r = 0; r < kDropReasons; ++r) s.drops[r] += l.drops[r];
    for (size_t w = 0; w < counters_.size(); ++w)
      s.received_by[w] += link->shards[w].rx_packets.read();
  }
  for (const WorkerCounters& c : counters_) {
    s.originated += c.originated.read();
    s.delivered += c.delivered.read();
    s.held += c.handed.read();
    s.suppressed_errors += c.suppressed_errors.read();
  }
  for (const WorkerCounters& c : counters_) s.held -= c.taken.read();
  return s;
}

double Snapshot::imbalance() const {
  if (received == 0) return 1;
  const auto most = static_cast<double>(*std::ranges::max_element(received_by));
  return most * static_cast<double>(received_by.size()) / static_cast<double>(received);
}

std::vector<CustomerSnapshot> Router::customers() const {
  std::vector<CustomerSnapshot> all;
  if (!enforcement_) return all;
  for (const Enforcement::Drops& d : enforcement_->drops()) {
    const config::Customer& c = customers_[d.customer - 1];
    all.push_back({.name = c.name, .budget = c.budget, .packets = d.packets, .bytes = d.bytes});
  }
  return all;
}

std::vector<OffenderSnapshot> Router::offenders() const {
  std::vector<OffenderSnapshot> all;
  for (const auto& link : links_) {
    const auto begin = static_cast<std::ptrdiff_t>(all.size());
    for (const auto& audit : link->audits) {
      std::array<BalanceAudit::Offender, BalanceAudit::kMaxOffenders> found;
      const size_t n = audit->offenders(found);
      for (const BalanceAudit::Offender& o : std::span(found.data(), n)) {
        const std::string source = text_of(o.source);
        auto same = std::find_if(all.begin() + begin, all.end(),
                                 [&](const OffenderSnapshot& s) { return s.source == source; });
        if (same == all.end()) same = all.insert(all.end(), {.link = link->name, .source = source});
        same->owed = std::max(same->owed, o.owed);
        same->offences += o.offences;
        same->dropped += o.dropped;
      }
    }
  }
  return all;
}

metrics::Histogram Router::waits(size_t link) const {
  metrics::Histogram all;
  for (const LinkShard& shard : links_[link]->shards) all.merge(shard.waits.nanos);
  return all;
}

uint64_t Router::held() const {
  uint64_t n = 0;
  for (const auto& link : links_) {
    uint64_t out = 0, in = 0;
    out = sum(link->shards, &LinkShard::out_packets);
    in = sum(link->shards, &LinkShard::in_packets);
    n += in > out ? in - out : 0;
  }
  uint64_t handed = 0, taken = 0;
  for (const WorkerCounters& c : counters_) taken += c.taken.read();
  for (const WorkerCounters& c : counters_) handed += c.handed.read();
  return n + handed - taken;
}

}  // namespace turnpike::router
