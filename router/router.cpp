// SPDX-License-Identifier: BSD-3-Clause
#include "router/router.h"

#include <algorithm>
#include <numeric>

#include "common/config/address.h"
#include "common/wire/bytes.h"
#include "router/parts.h"

namespace turnpike::router {

namespace {

/// An address as audits keep it: IPv4 as ::ffff:a.b.c.d.
std::string text_of(const config::Ipv6& address) {
  constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!std::equal(kMapped.begin(), kMapped.end(), address.begin()))
    return config::ipv6_text(address);
  return config::ipv4_text(wire::load_be32(address.data() + 12));
}

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

/// Packets for Linux: delivered once the punt thread has taken them, unless Linux refused them.
void add_punted(PuntPath& path, Snapshot& s) {
  s.punt.emplace();
  // In this order, so that a packet on its way meanwhile counts as held.
  std::vector<uint64_t> refused;
  for (size_t l = 0; l < s.links.size(); ++l) refused.push_back(path.refused(l));
  const uint64_t taken = path.taken();
  for (unsigned w = 0; w < path.workers(); ++w)
    for (size_t k = 0; k < kPuntClasses; ++k) {
      s.punt->punted[k] += path.shard(w).punted[k].read();
      s.punt->limited[k] += path.shard(w).limited[k].read();
      s.punt->dropped[k] += path.shard(w).dropped[k].read();
    }
  s.punt->unusable = path.unusable();
  s.punt->waiting = path.waiting();
  uint64_t punted = 0;
  for (const uint64_t n : s.punt->punted) punted += n;
  s.held += punted - taken + s.punt->waiting;
  s.delivered += taken;
  constexpr auto kRefused = static_cast<size_t>(DropReason::kPuntRefused);
  for (size_t l = 0; l < s.links.size(); ++l) {
    s.delivered -= refused[l];
    s.links[l].drops[kRefused] += refused[l];
    s.drops[kRefused] += refused[l];
  }
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

tl::expected<std::unique_ptr<const Tables>, std::string> Router::build_tables(
    const config::Topology& topology, size_t node) const {
  const auto with = topology.routers[node].fib ? Tables::With::kNoRoutes : Tables::With::kRoutes;
  return Tables::build(topology, node, options_.socket, with, options_.fib);
}

const CustomerTable* Router::customer_table() const {
  return enforcement_ ? &enforcement_->customers() : table_.get();
}

tl::expected<std::unique_ptr<Router>, std::string> Router::make(
    const config::Topology& topology, size_t node,
    const std::vector<std::vector<QueuePair*>>& ports, std::span<rte_mempool* const> pools,
    const RouterOptions& options) {
  const config::Router& self = topology.routers[node];
  std::unique_ptr<Router> r(new Router);
  r->name_ = self.name;
  r->former_.name = "former customers";
  r->options_ = options;
  if (self.linux_control && options.linux_control)
    r->options_.addresses = Addresses::kFromControlPlane;
  r->pools_.assign(pools.begin(), pools.end());
  auto tables = r->build_tables(topology, node);
  if (!tables) return tl::unexpected(tables.error());
  r->tables_ = std::move(*tables);
  r->file_routes_.store(&r->tables_->routes(), std::memory_order_release);
  if (self.fib) {
    auto table = make_route_table(topology, node, *r->tables_, r->options_.addresses,
                                  options.workers, options.socket);
    if (!table) return tl::unexpected(table.error());
    r->route_table_ = std::move(*table);
  }
  r->current_.store(r->tables_.get(), std::memory_order_release);
  r->counters_ = std::vector<WorkerCounters>(options.workers);
  r->nic_drops_ = std::vector<metrics::Counter>(self.links.size());
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

  if (!r->tables_->trees().empty()) {
    r->multicast_ = MulticastState::make(*r->tables_, options.workers, options.socket);
    if (!r->multicast_) return tl::unexpected("no memory for the trees of " + self.name);
  }

  if (self.linux_control && options.linux_control) {
    r->punt_ =
        PuntPath::make(*self.linux_control, self.links.size(), options.workers, options.socket);
    if (!r->punt_) return tl::unexpected("no memory for the queues to Linux of " + self.name);
  }

  const Audited audited = audited_packets(topology);
  for (size_t l = 0; l < self.links.size(); ++l) {
    auto e = make_link(topology, node, l, options, audited, r->customer_table());
    const auto first = std::ranges::find_if(ports[l], [](QueuePair* p) { return p != nullptr; });
    if (first == ports[l].end()) return tl::unexpected("no worker has a queue at link " + e->name);
    e->owner = static_cast<unsigned>(first - ports[l].begin());
    for (unsigned w = 0; w < options.workers; ++w) {
      if (e->drain == config::Drain::kLineRate && ports[l][w] != nullptr) continue;
      e->ring[w] = r->make_ring(*e, w, e->traits.classes);
      if (!e->ring[w]) return tl::unexpected("no memory for the queue of link " + e->name);
    }
    r->links_.push_back(std::move(e));
  }
  for (unsigned w = 0; w < options.workers; ++w) {
    Worker::Parts parts = r->parts_of(topology, node, w);
    for (size_t l = 0; l < r->links_.size(); ++l) parts.ports.push_back(ports[l][w]);
    parts.link_changes = &r->link_changes_;
    parts.tables = &r->current_;
    parts.routes = r->route_table_ ? &r->route_table_->current() : &r->file_routes_;
    if (r->route_table_) parts.quiescence = &r->route_table_->quiescence();
    parts.buffers = buffer_share(topology, node, options, parts.links, pools[w]);
    parts.enforcement = r->enforcement_.get();
    parts.customers = r->customer_table();
    r->workers_.push_back(std::make_unique<Worker>(parts));
  }
  return r;
}

std::unique_ptr<LinkRing> Router::make_ring(const EgressLink& link, unsigned worker,
                                            unsigned classes) const {
  const uint32_t pool = options_.most_held != 0 ? options_.most_held : pools_[worker]->size;
  return LinkRing::make(slots_for(link, pool), options_.socket, classes, options_.growing);
}

Worker::Parts Router::parts_of(const config::Topology& topology, size_t node, unsigned worker) {
  Worker::Parts parts;
  parts.index = worker;
  parts.pool = pools_[worker];
  parts.counters = &counters_[worker];
  parts.slack = options_.slack;
  parts.multicast = multicast_.get();
  parts.punt = punt_.get();
  parts.steering = options_.steering;
  parts.errors = {options_.errors_per_second, options_.errors_at_once};
  parts.source_checks = source_checks(topology, node);
  for (const auto& link : links_) parts.links.push_back(link.get());
  return parts;
}

Snapshot Router::snapshot() const {
  Snapshot s;
  s.received_by.resize(counters_.size());
  constexpr auto kMartian = static_cast<size_t>(DropReason::kMartianSource);
  for (const auto& link : links_) {
    const uint64_t in_nic = nic_drops_[s.links.size()].read();
    s.links.push_back(snapshot_of(*link));
    LinkSnapshot& l = s.links.back();
    l.rx_packets += in_nic;
    l.drops[kMartian] += in_nic;
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
  if (punt_) add_punted(*punt_, s);
  return s;
}

double Snapshot::imbalance() const {
  const uint64_t all = std::accumulate(received_by.begin(), received_by.end(), uint64_t{0});
  if (all == 0) return 1;
  const auto most = static_cast<double>(*std::ranges::max_element(received_by));
  return most * static_cast<double>(received_by.size()) / static_cast<double>(all);
}

std::vector<CustomerSnapshot> Router::customers() const {
  std::vector<CustomerSnapshot> all;
  if (former_.bytes > 0) all.push_back(former_);
  if (!enforcement_) return all;
  for (const Enforcement::Drops& d : enforcement_->drops()) {
    const config::Customer& c = customers_[d.customer - 1];
    all.push_back({.name = c.name, .budget = c.budget, .packets = d.packets, .bytes = d.bytes});
  }
  return all;
}

std::string Router::customer_of(const Address& source, std::optional<size_t> link) const {
  const CustomerTable* table = customer_table();
  if (table == nullptr) return "";
  uint64_t customer = link ? table->of_link(*link) : 0;
  if (customer == 0)
    std::visit([&](const auto& address) { table->find(std::span(&address, 1), &customer); },
               source);
  return customer == 0 || customer > customers_.size() ? "" : customers_[customer - 1].name;
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

size_t Router::gauges(size_t link, std::span<Gauge> out) const {
  const std::unique_ptr<LinkLaw>& law = links_[link]->law;
  return law == nullptr ? 0 : law->gauges(out);
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
  return n + handed - taken + (punt_ ? punt_->held() : 0);
}

std::vector<unsigned> Router::owners() const {
  std::vector<unsigned> owners;
  owners.reserve(links_.size());
  for (const auto& link : links_) owners.push_back(link->owner);
  return owners;
}

}  // namespace turnpike::router
