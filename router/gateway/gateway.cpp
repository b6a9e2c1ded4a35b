// SPDX-License-Identifier: BSD-3-Clause
// Construction, and the life of the tunnels' flows: opened by a packet, closed after a pause.
#include "router/gateway/gateway.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/protocols/packet_headers.h"
#include "common/protocols/random.h"
#include "common/units/max_min.h"

namespace turnpike::gateway {
namespace {

constexpr size_t kMaxExpiries = 512;     // timers per poll
constexpr Nanos kRetry = 10_us;          // until the next poll while packets wait to be sent
constexpr size_t kQueuedPackets = 4096;  // of the packets of one poll
constexpr size_t kSweep = 256;           // tunnels that one sweep looks at
constexpr Nanos kSweepInterval = 100_ms;
constexpr double kMinPrice = 0.25;   // of the price at which a customer's budget buys the core
constexpr double kMinBudget = 1e-9;  // $/s, of such a price
constexpr double kNoCeiling = std::numeric_limits<double>::infinity();
constexpr Nanos kShareInterval = 1_ms;
constexpr Nanos kPutOff = 50_ms;
constexpr double kMaxRoundTrip = 0.5;  // s, of packets in flight that have records
constexpr size_t kMinRecords = size_t{1} << 14, kMaxRecords = size_t{1} << 22;
constexpr size_t kMinWaiting = 8192, kMaxWaiting = size_t{1} << 20;      // packets in all queues
constexpr uint64_t kTokens = 1, kIds = 2, kInnerFlows = 3, kNonces = 4;  // purposes of keys

std::vector<sender::FlowClass> kinds_of(const config::Gateway& g, const Protocol& protocol) {
  std::vector<sender::FlowClass> kinds;
  for (const config::GatewayClass& c : g.classes)
    for (const unsigned ip_version : {4U, 6U})
      kinds.push_back({.protocol = &protocol,
                       .params = g.law.params,
                       .ip_version = ip_version,
                       .dscp = c.core_dscp,
                       .terms = {.share = c.share, .background = c.background},
                       .packet = static_cast<uint32_t>(g.mtu.count()),
                       .headers = packet_headers(protocol, ip_version)});
  return kinds;
}

std::vector<unsigned> dscps_of(const config::Gateway& g) {
  std::vector<unsigned> all;
  for (const config::GatewayClass& c : g.classes) all.push_back(c.core_dscp);
  return all;
}

double core_rate(const config::Topology& topology, const config::Gateway& g) {
  const config::Link& link = topology.links[g.core.front()];
  return bytes_per_second(link.directions[link.end_at(topology.routers[g.router].name)].rate);
}

/// B of a tunnel's packet beside its datagrams.
uint32_t overhead_of(const config::Gateway& g, const sender::FlowClass& kind) {
  return kind.headers + static_cast<uint32_t>(g.security ? Seal::kOverhead : 0);
}

size_t tunnels_of(const config::Topology& topology, const config::Gateway& g) {
  return topology.customers.size() * g.classes.size() * g.peers.size();
}

/// Flows that the receiver knows at a time. Sealed ones are kept for as long as their tokens, 69 s,
/// while a tunnel that often pauses may open several.
uint32_t received_flows(const config::Topology& topology, const config::Gateway& g) {
  constexpr size_t kSpare = 1024, kMaxKept = 1 << 16, kKeptEach = 7;
  const size_t tunnels = tunnels_of(topology, g);
  const size_t kept = g.security ? tunnels + std::min(kKeptEach * tunnels, kMaxKept) : 0;
  return static_cast<uint32_t>(tunnels + kept + kSpare);
}

sender::Sizing size_of(const config::Topology& topology, const config::Gateway& g) {
  const double packets =
      core_rate(topology, g) * kMaxRoundTrip / static_cast<double>(g.mtu.count());
  return {.flows = 2 * tunnels_of(topology, g) + 1,  // one closes while the next opens
          .records = std::clamp(static_cast<size_t>(8 * packets), kMinRecords, kMaxRecords)};
}

/// Half of the buffers may wait in queues: the other half is for ports and for packets under way.
size_t waiting_of(const rte_mempool& pool) {
  return std::clamp<size_t>(pool.size / 2, kMinWaiting, kMaxWaiting);
}

sender::SecretKey secret_of(const GatewayOptions& options) {
  SplitMix64 random(options.seed);
  return options.secret.value_or(sender::SecretKey{random.next(), random.next()});
}

sender::SecretKey key_for(const GatewayOptions& options, uint64_t purpose) {
  return sender::derive(secret_of(options), purpose);
}

}  // namespace

tl::expected<std::unique_ptr<Gateway>, std::string> Gateway::make(const config::Topology& topology,
                                                                  size_t index,
                                                                  const GatewayOptions& options) {
  const config::Gateway& g = topology.gateways[index];
  const std::string& name = topology.routers[g.router].name;
  const auto fail = [&](const std::string& why) {
    return tl::unexpected("gateway " + name + ": " + why);
  };
  const Protocol* protocol = find_protocol(g.law.protocol);
  if (protocol == nullptr) return fail("no protocol \"" + g.law.protocol + "\"");
  const std::vector<sender::FlowClass> kinds = kinds_of(g, *protocol);
  auto peers = Peers::make(topology, index, {overhead_of(g, kinds[0]), overhead_of(g, kinds[1])},
                           options.socket, options.fib);
  if (!peers) return fail(peers.error());
  auto table = router::CustomerTable::build(topology, g.router, options.socket);
  if (!table) return fail(table.error());
  std::unique_ptr<KeyRing> keys;
  if (g.security) {
    auto ready = KeyRing::make(g, g);
    if (!ready) return fail(ready.error());
    keys = std::move(*ready);
  }
  std::unique_ptr<Gateway> made(
      new Gateway(topology, index, options, kinds, std::move(*peers), std::move(keys)));
  made->table_ = std::move(*table);
  made->receiver_ =
      std::make_unique<sender::Receiver>(received_flows(topology, g), /*runs=*/0, made->received_,
                                         options.populated, key_for(options, kTokens));
  made->make_customers();
  return made;
}

Gateway::Gateway(const config::Topology& topology, size_t index, const GatewayOptions& options,
                 std::vector<sender::FlowClass> kinds, Peers peers, std::unique_ptr<KeyRing> keys)
    : topology_(topology),
      own_(topology.gateways[index]),
      pool_(options.pool),
      seed_(static_cast<uint32_t>(key_for(options, kInnerFlows)[0])),
      lcore_({.size = size_of(topology, own_),
              .groups = 1,
              .pool = options.pool,
              .outcomes = outcomes_,
              .tick_shift = options.tick_shift,
              .populated = options.populated,
              .id_key = key_for(options, kIds)[0]}),
      kinds_(std::move(kinds)),
      peers_(std::move(peers)),
      seal_(keys ? std::optional<Seal>(std::in_place, std::move(keys), peers_.frames(),
                                       key_for(options, kNonces)[0])
                 : std::nullopt),
      silent_(peers_.size()),
      paths_(peers_.frames(), dscps_of(own_)),
      flows_port_(kQueuedPackets),
      released_(kQueuedPackets),
      tx_(flows_port_),
      queues_(waiting_of(*options.pool)),
      tunnel_parts_{parts_for(kinds_[0]), parts_for(kinds_[1])} {
  const config::Router& router = topology.routers[own_.router];
  for (const size_t l : router.links) core_.push_back(std::ranges::count(own_.core, l) != 0);
  for (const size_t l : own_.core) {
    const config::Link& core = topology.links[l];
    const config::Interface& end = core.ends[core.end_at(router.name)];
    core_ipv4_.push_back(end.ipv4.address);
    core_ipv6_.push_back(end.ipv6.address);
  }
  core_link_ = static_cast<uint16_t>(std::ranges::find(core_, true) - core_.begin());
  const config::Link& link = topology.links[router.links[core_link_]];
  station_ = link.ends[link.end_at(router.name)].mac;
}

TunnelParts Gateway::parts_for(const sender::FlowClass& kind) {
  return {.queues = queues_,
          .waits = waits_,
          .pool = pool_,
          .codel = {own_.target, own_.interval},
          .limit = static_cast<uint64_t>(own_.limit.count()),
          .headers = overhead_of(own_, kind),
          .seal = seal_ ? &*seal_ : nullptr};
}

Gateway::~Gateway() {
  lcore_.flows.for_each([&](sender::Flow& f) { customers_[f.host]->source->abandon(f, Nanos(0)); });
}

void Gateway::make_customers() {
  const config::Link& link = topology_.links[own_.core.front()];
  const config::Direction& core = link.directions[link.end_at(topology_.routers[own_.router].name)];
  config::Direction port = core;
  port.law = {};  // the router's own link has a law
  for (uint32_t c = 0; c < topology_.customers.size(); ++c) {
    const Budget budget = topology_.customers[c].budget;
    places_.emplace(topology_.customers[c].name, c);
    Customer& customer = *customers_.emplace_back(std::make_unique<Customer>(
        kMinPrice * std::max(budget.count(), kMinBudget) / bytes_per_second(core.rate)));
    customer.source.emplace(
        sender::SourceParts{.lcore = lcore_,
                            .totals = customer.totals,
                            .tx = tx_,
                            .host = c,
                            .paths = paths_,
                            .budget = budget,
                            .strategy = sender::make_strategy(own_.strategy, budget),
                            .line_rate = bytes_per_second(core.rate),
                            .nic = sender::Nic(port, 0)});
    for (uint32_t class_index = 0; class_index < own_.classes.size(); ++class_index)
      for (uint32_t p = 0; p < peers_.size(); ++p)
        tunnels_.push_back(std::make_unique<Tunnel>(
            tunnel_parts_[peers_.ip_version(p) == 6 ? 1 : 0], customer.traffic, peers_[p],
            TunnelPlace{.number = static_cast<uint32_t>(tunnels_.size()),
                        .customer = c,
                        .class_index = class_index,
                        .peer = p}));
    set_ceiling(c, topology_.customers[c]);
  }
  ready_.reserve(tunnels_.size());
}

uint32_t Gateway::end() {
  uint32_t dropped = 0;
  for (const auto& tunnel : tunnels_) dropped += tunnel->clear();
  return dropped;
}

void Gateway::take_customers(const config::Topology& wanted) {
  for (size_t i = 0; i < wanted.customers.size(); ++i) {
    const config::Customer& changed = wanted.customers[i];
    size_t own = i;  // mostly they have kept their places
    if (own >= customers_.size() || topology_.customers[own].name != changed.name) {
      const auto found = find_customer(changed.name);
      if (!found) continue;
      own = *found;
    }
    sender::Source& source = *customers_[own]->source;
    if (changed.budget.count() != source.ledger().budget()) {
      source.set_budget(changed.budget);
      for (const auto& tunnel : tunnels(own)) {
        tunnel->revalued = true;
        if (!std::exchange(tunnel->ready, true)) ready_.push_back(tunnel.get());
      }
    }
    set_ceiling(static_cast<uint32_t>(own), changed);
  }
}

tl::expected<std::unique_ptr<KeyRing>, std::string> Gateway::prepare_keys(
    const config::Topology& wanted) const {
  const std::string& name = topology_.routers[own_.router].name;
  const auto next = std::ranges::find(wanted.gateways, name, [&](const config::Gateway& g) {
    return wanted.routers[g.router].name;
  });
  if (!seal_ || next == wanted.gateways.end()) return nullptr;
  auto keys = KeyRing::make(own_, *next);
  if (!keys) return tl::unexpected("gateway " + name + ": " + keys.error());
  return keys;
}

void Gateway::set_ceiling(uint32_t customer, const config::Customer& configured) {
  Customer& c = *customers_[customer];
  const bool bounded = configured.ceiling.count() > 0;
  const double ceiling = bounded ? bytes_per_second(configured.ceiling) : kNoCeiling;
  if (ceiling == c.ceiling.load(std::memory_order_relaxed)) return;
  c.ceiling.store(ceiling, std::memory_order_relaxed);
  c.next_share = Nanos(0);
  for (const auto& tunnel : tunnels(customer)) tunnel->set_most(ceiling);
}

// Max-min: a tunnel that wants less than an equal share leaves the rest to the others.
void Gateway::share_ceiling(uint32_t customer, Nanos now) {
  Customer& c = *customers_[customer];
  const double ceiling = c.ceiling.load(std::memory_order_relaxed);
  if (ceiling == kNoCeiling || now < c.next_share) return;
  const auto all = tunnels(customer);
  if (all.size() < 2) return;
  c.next_share = now + kShareInterval;
  const auto share_of = [&](const auto& tunnel) {
    return own_.classes[tunnel->class_index()].share;
  };
  const double level = max_min_level(
      all, ceiling, [&](const auto& tunnel) { return tunnel->wanted(now); }, share_of);
  for (const auto& tunnel : all) tunnel->set_most(std::min(ceiling, level * share_of(tunnel)));
}

// Called once a poll, after its timers: a flow is looked at once for all packets that have come,
// and small ones of them share a packet.
void Gateway::send_ready(Nanos now) {
  for (Tunnel* const tunnel : ready_) {
    tunnel->ready = false;
    if (std::exchange(tunnel->revalued, false)) revalue(*tunnel, now);
    share_ceiling(tunnel->customer(), now);
    if (tunnel->waiting() > 0) carry(*tunnel, now);
  }
  ready_.clear();
}

// A flow learns its new budget when it sends. One that the former budget has put off for long
// begins anew instead.
void Gateway::revalue(const Tunnel& tunnel, Nanos now) {
  sender::Flow* const flow = lcore_.flows.find(tunnel.flow);
  if (flow == nullptr || flow->datagrams != &tunnel || flow->stage != sender::Stage::kOpen) return;
  if (flow->send_at == kNever || flow->send_at <= now + kPutOff) return;
  customers_[tunnel.customer()]->source->abandon(*flow, now);
}

// Datagrams wait: their flow sends them, or opens.
void Gateway::carry(Tunnel& tunnel, Nanos now) {
  sender::Flow* const flow = lcore_.flows.find(tunnel.flow);
  if (flow == nullptr || flow->datagrams != &tunnel) return open(tunnel, now);
  const bool early = tunnel.urgent() && flow->send_at > now;
  if (flow->send_at == kNever || early) customers_[tunnel.customer()]->source->wake(*flow, now);
}

void Gateway::open(Tunnel& tunnel, Nanos now) {
  if (lcore_.flows.full()) {
    totals_.no_flow.add();
    return;
  }
  const uint32_t peer = tunnel.peer();
  const sender::Event event{
      .at = now, .from = tunnel.customer(), .to = peer, .bytes = config::kEndless};
  const sender::FlowClass& kind = kind_of(tunnel.class_index(), peers_.ip_version(peer));
  tunnel.flow = customers_[tunnel.customer()]->source->open(kind, event, now, &tunnel).id;
}

Nanos Gateway::poll(Nanos now) {
  lcore_.wheel.advance(now, kMaxExpiries, [&](Timer& timer) {
    sender::Flow& flow = lcore_.flows.owner_of(&timer);
    // Every flow here carries a tunnel's datagrams.
    auto& tunnel = static_cast<Tunnel&>(*flow.datagrams);
    customers_[flow.host]->source->on_timer(flow, now);
    after_event(flow, tunnel, now);
  });
  send_ready(now);
  if (now >= next_sweep_) sweep(now);
  if (now >= next_attempt_) [[unlikely]]
    seek_silent(now);
  if (now >= next_claim_) [[unlikely]]
    settle_claims(now);
  tx_.flush(now);
  Nanos next = std::min({lcore_.wheel.next_deadline(), next_attempt_, next_claim_});
  if (lcore_.flows.open_flows() > 0) next = std::min(next, next_sweep_);
  if (tx_.waiting() > 0) next = std::min(next, now + kRetry);
  return std::max(next, now);
}

void Gateway::after_event(const sender::Flow& flow, Tunnel& tunnel, Nanos now) {
  const bool answered = flow.stage == sender::Stage::kOpen && flow.backoff == 0;
  if (!answered) [[unlikely]]
    after_failure(tunnel, now);
}

// The tunnel's peer may have fallen silent, or its flow may have ended with datagrams left.
void Gateway::after_failure(Tunnel& tunnel, Nanos now) {
  sender::Flow* const flow = lcore_.flows.find(tunnel.flow);
  const bool known = silent(tunnel.peer());
  if (flow == nullptr || flow->datagrams != &tunnel) {
    if (tunnel.waiting() > 0 && !known) open(tunnel, now);
    return;
  }
  const bool opening = flow->stage == sender::Stage::kOpening;
  if (flow->backoff < (opening ? 1U : kSilentTimeouts)) return;
  Peer& peer = peers_[tunnel.peer()];
  if (known && opening && peer.seeker == tunnel.number()) return;
  // The peer has answered other tunnels meanwhile: this one's flow alone has failed.
  const bool answers = peer.last_answer != kNever && now - peer.last_answer < flow->rtt.timeout(0);
  if (!known && answers) {
    if (opening) return;  // its SYN goes again
    customers_[flow->host]->source->abandon(*flow, now);
    if (tunnel.waiting() > 0) open(tunnel, now);
    return;
  }
  if (!known) {
    silent_[tunnel.peer()].store(true, std::memory_order_relaxed);
    peer.seeker = tunnel.number();
    peer.next_attempt = now + kProbe;
    next_attempt_ = std::min(next_attempt_, peer.next_attempt);
  }
  customers_[flow->host]->source->abandon(*flow, now);
  totals_.silent_drops.add(tunnel.clear());
}

// Customers' packets cannot make these attempts: hosts whose packets were dropped wait longer and
// longer, and would find the peer back a whole time-out later. One flow keeps trying, so that an
// answer counts however long it takes.
void Gateway::seek_silent(Nanos now) {
  next_attempt_ = kNever;
  for (size_t p = 0; p < peers_.size(); ++p) {
    if (!silent(p)) continue;
    Peer& peer = peers_[p];
    if (now >= peer.next_attempt) {
      peer.next_attempt = now + kProbe;
      Tunnel& tunnel = *tunnels_[peer.seeker];
      sender::Flow* const flow = lcore_.flows.find(tunnel.flow);
      if (flow != nullptr && flow->datagrams == &tunnel) {
        customers_[flow->host]->source->retry(*flow, now);
      } else {
        open(tunnel, now);
      }
    }
    next_attempt_ = std::min(next_attempt_, peer.next_attempt);
  }
}

void Gateway::sweep(Nanos now) {
  next_sweep_ = now + kSweepInterval;
  peers_.forget_mtus(now);
  for (size_t n = 0; n < std::min(kSweep, tunnels_.size()); ++n) {
    hand_ = hand_ + 1 >= tunnels_.size() ? 0 : hand_ + 1;
    Tunnel& tunnel = *tunnels_[hand_];
    Customer& customer = *customers_[tunnel.customer()];
    share_ceiling(tunnel.customer(), now);
    customer.totals.budget.store(customer.source->ledger().budget(), std::memory_order_relaxed);
    customer.totals.committed.store(customer.source->ledger().committed(),
                                    std::memory_order_relaxed);
    sender::Flow* const flow = lcore_.flows.find(tunnel.flow);
    if (flow == nullptr || flow->datagrams != &tunnel || flow->stage != sender::Stage::kOpen)
      continue;
    if (tunnel.waiting() == 0 && now - tunnel.last_packet() >= own_.idle)
      customer.source->stop(*flow, now);
  }
}

}  // namespace turnpike::gateway
