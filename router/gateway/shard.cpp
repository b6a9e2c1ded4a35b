// SPDX-License-Identifier: BSD-3-Clause
// Construction, and the life of the tunnels' flows: opened by a packet, closed after a pause.
#include "router/gateway/shard.h"

#include <algorithm>
#include <limits>
#include <utility>

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

std::vector<unsigned> dscps_of(const config::Gateway& g) {
  std::vector<unsigned> all;
  for (const config::GatewayClass& c : g.classes) all.push_back(c.core_dscp);
  return all;
}

double core_rate(const config::Topology& topology, const config::Gateway& g) {
  const config::Link& link = topology.links[g.core.front()];
  return bytes_per_second(link.directions[link.end_at(topology.routers[g.router].name)].rate);
}

/// Of the customers of one lcore, at most.
size_t tunnels_of(const SharedParts& parts) {
  const size_t customers =
      (parts.topology.customers.size() + parts.options.lcores - 1) / parts.options.lcores;
  return customers * parts.gateway.classes.size() * parts.gateway.peers.size();
}

/// Flows that the receiver knows at a time. Sealed ones are kept for as long as their tokens, 69 s,
/// while a tunnel that often pauses may open several. The flows of other gateways fall on lcores at
/// random.
uint32_t received_flows(const SharedParts& parts) {
  constexpr size_t kSpare = 1024, kMaxKept = 1 << 16, kKeptEach = 7, kUneven = 8;
  const size_t tunnels = tunnels_of(parts);
  const size_t kept =
      parts.gateway.security ? tunnels + std::min(kKeptEach * tunnels, kMaxKept) : 0;
  const size_t uneven = parts.options.lcores > 1 ? (tunnels + kept) / kUneven : 0;
  return static_cast<uint32_t>(tunnels + kept + uneven + kSpare);
}

/// One lcore may carry all that the core does. Records of eight times as many packets leave room
/// for smaller ones; several lcores share these, down to twice as many on each.
sender::Sizing size_of(const SharedParts& parts) {
  constexpr double kRoom = 8, kMinRoom = 2;
  const double packets = core_rate(parts.topology, parts.gateway) * kMaxRoundTrip /
                         static_cast<double>(parts.gateway.mtu.count());
  const double room = std::max(kRoom / parts.options.lcores, kMinRoom);
  return {.flows = 2 * tunnels_of(parts) + 1,  // one closes while the next opens
          .records = std::clamp(static_cast<size_t>(room * packets), kMinRecords, kMaxRecords)};
}

/// Half of the buffers may wait in queues: the other half is for ports and for packets under way.
size_t waiting_of(const GatewayOptions& options) {
  return std::clamp<size_t>(options.pool->size / 2 / options.lcores, kMinWaiting, kMaxWaiting);
}

sender::SecretKey secret_of(const GatewayOptions& options) {
  SplitMix64 random(options.seed);
  return options.secret.value_or(sender::SecretKey{random.next(), random.next()});
}

sender::SecretKey key_for(const GatewayOptions& options, uint64_t purpose) {
  return sender::derive(secret_of(options), purpose);
}

/// No two lcores may use the same nonce.
uint64_t first_nonce(const GatewayOptions& options, unsigned lcore) {
  return key_for(options, kNonces + (uint64_t{lcore} << 32))[0];
}

}  // namespace

uint32_t overhead_of(const config::Gateway& gateway, const sender::FlowClass& kind) {
  return kind.headers + static_cast<uint32_t>(gateway.security ? Seal::kOverhead : 0);
}

Shard::Shard(const SharedParts& parts, unsigned lcore, std::unique_ptr<KeyRing> keys)
    : parts_(parts),
      topology_(parts.topology),
      own_(parts.gateway),
      pool_(parts.options.pool),
      index_(lcore),
      seed_(static_cast<uint32_t>(key_for(parts.options, kInnerFlows)[0])),
      state_({.size = size_of(parts),
              .groups = 1,
              .pool = parts.options.pool,
              .outcomes = outcomes_,
              .tick_shift = parts.options.tick_shift,
              .populated = parts.options.populated,
              .ids = sender::FlowIdCode(key_for(parts.options, kIds)[0], parts.options.lcores,
                                        lcore)}),
      peers_(parts.peers),
      seal_(keys ? std::optional<Seal>(std::in_place, std::move(keys), peers_.frames(),
                                       first_nonce(parts.options, lcore))
                 : std::nullopt),
      silent_(peers_.size()),
      paths_(peers_.frames(), dscps_of(own_)),
      flows_port_(kQueuedPackets),
      released_(kQueuedPackets),
      tx_(flows_port_),
      receiver_(std::make_unique<sender::Receiver>(received_flows(parts), /*runs=*/0, received_,
                                                   parts.options.populated,
                                                   key_for(parts.options, kTokens))),
      queues_(waiting_of(parts.options)),
      tunnel_parts_{parts_for(parts.kinds[0]), parts_for(parts.kinds[1])},
      inbox_(*parts.hand_over, lcore) {
  const config::Router& router = topology_.routers[own_.router];
  for (const size_t l : router.links) core_.push_back(std::ranges::count(own_.core, l) != 0);
  for (const size_t l : own_.core) {
    const config::Link& core = topology_.links[l];
    const config::Interface& end = core.ends[core.end_at(router.name)];
    core_ipv4_.push_back(end.ipv4.address);
    core_ipv6_.push_back(end.ipv6.address);
  }
  core_link_ = static_cast<uint16_t>(std::ranges::find(core_, true) - core_.begin());
  const config::Link& link = topology_.links[router.links[core_link_]];
  station_ = link.ends[link.end_at(router.name)].mac;
  make_customers();
}

TunnelParts Shard::parts_for(const sender::FlowClass& kind) {
  return {.queues = queues_,
          .waits = waits_,
          .pool = pool_,
          .codel = {own_.target, own_.interval},
          .limit = static_cast<uint64_t>(own_.limit.count()),
          .headers = overhead_of(own_, kind),
          .seal = seal_ ? &*seal_ : nullptr,
          .totals = totals_};
}

Shard::~Shard() {
  state_.flows.for_each([&](sender::Flow& f) { customers_[f.host]->source->abandon(f, Nanos(0)); });
}

void Shard::make_customers() {
  const config::Link& link = topology_.links[own_.core.front()];
  const config::Direction& core = link.directions[link.end_at(topology_.routers[own_.router].name)];
  config::Direction port = core;
  port.law = {};  // the router's own link has a law
  for (size_t number = index_; number < topology_.customers.size();
       number += parts_.options.lcores) {
    const config::Customer& configured = topology_.customers[number];
    const Budget budget = configured.budget;
    const auto c = static_cast<uint32_t>(customers_.size());
    Customer& customer = *customers_.emplace_back(std::make_unique<Customer>(
        kMinPrice * std::max(budget.count(), kMinBudget) / bytes_per_second(core.rate)));
    customer.source.emplace(
        sender::SourceParts{.lcore = state_,
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
    set_ceiling(c, configured);
  }
  ready_.reserve(tunnels_.size());
}

uint32_t Shard::end() {
  uint32_t dropped = 0;
  for (const auto& tunnel : tunnels_) dropped += tunnel->clear();
  return dropped;
}

void Shard::take_customer(size_t customer, const config::Customer& changed) {
  sender::Source& source = *customers_[customer]->source;
  if (changed.budget.count() != source.ledger().budget()) {
    source.set_budget(changed.budget);
    for (const auto& tunnel : tunnels(customer)) {
      tunnel->revalued = true;
      if (!std::exchange(tunnel->ready, true)) ready_.push_back(tunnel.get());
    }
  }
  set_ceiling(static_cast<uint32_t>(customer), changed);
}

void Shard::set_ceiling(uint32_t customer, const config::Customer& configured) {
  Customer& c = *customers_[customer];
  const bool bounded = configured.ceiling.count() > 0;
  const double ceiling = bounded ? bytes_per_second(configured.ceiling) : kNoCeiling;
  if (ceiling == c.ceiling.load(std::memory_order_relaxed)) return;
  c.ceiling.store(ceiling, std::memory_order_relaxed);
  c.next_share = Nanos(0);
  for (const auto& tunnel : tunnels(customer)) tunnel->set_most(ceiling);
}

// Max-min: a tunnel that wants less than an equal share leaves the rest to the others.
void Shard::share_ceiling(uint32_t customer, Nanos now) {
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
void Shard::send_ready(Nanos now) {
  for (Tunnel* const tunnel : ready_) {
    tunnel->ready = false;
    if (tunnel->revalued) revalue(*tunnel, now);
    share_ceiling(tunnel->customer(), now);
    if (tunnel->waiting() > 0) carry(*tunnel, now);
  }
  ready_.clear();
}

// A flow learns its new budget when it sends. One that the former budget has put off for long, or
// that an answer puts off before it has sent, begins anew instead.
void Shard::revalue(Tunnel& tunnel, Nanos now) {
  sender::Flow* const flow = state_.flows.find(tunnel.flow);
  if (flow == nullptr || flow->datagrams != &tunnel || flow->stage != sender::Stage::kOpen) return;
  if (flow->send_at == kNever || flow->send_at <= now + kPutOff) return;
  tunnel.revalued = false;
  customers_[tunnel.customer()]->source->abandon(*flow, now);
}

// Datagrams wait: their flow sends them, or opens.
void Shard::carry(Tunnel& tunnel, Nanos now) {
  sender::Flow* const flow = state_.flows.find(tunnel.flow);
  if (flow == nullptr || flow->datagrams != &tunnel) return open(tunnel, now);
  const bool early = tunnel.urgent() && flow->send_at > now;
  if (flow->send_at == kNever || early) customers_[tunnel.customer()]->source->wake(*flow, now);
}

void Shard::open(Tunnel& tunnel, Nanos now) {
  if (state_.flows.full()) {
    totals_.no_flow.add();
    return;
  }
  const uint32_t peer = tunnel.peer();
  const sender::Event event{
      .at = now, .from = tunnel.customer(), .to = peer, .bytes = config::kEndless};
  const sender::FlowClass& kind = kind_of(tunnel.class_index(), peers_.ip_version(peer));
  tunnel.flow = customers_[tunnel.customer()]->source->open(kind, event, now, &tunnel).id;
}

Nanos Shard::poll(Nanos now) {
  state_.wheel.advance(now, kMaxExpiries, [&](Timer& timer) {
    sender::Flow& flow = state_.flows.owner_of(&timer);
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
  Nanos next = std::min({state_.wheel.next_deadline(), next_attempt_, next_claim_});
  if (state_.flows.open_flows() > 0) next = std::min(next, next_sweep_);
  if (tx_.waiting() > 0) next = std::min(next, now + kRetry);
  if (parts_.hand_over->waiting(index_)) next = now;
  return std::max(next, now);
}

void Shard::after_event(const sender::Flow& flow, Tunnel& tunnel, Nanos now) {
  const bool answered = flow.stage == sender::Stage::kOpen && flow.backoff == 0;
  if (!answered) [[unlikely]]
    return after_failure(tunnel, now);
  if (!tunnel.revalued) [[likely]]
    return;
  revalue(tunnel, now);
  if (tunnel.waiting() > 0) carry(tunnel, now);
}

// The tunnel's peer may have fallen silent, or its flow may have ended with datagrams left.
void Shard::after_failure(Tunnel& tunnel, Nanos now) {
  sender::Flow* const flow = state_.flows.find(tunnel.flow);
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
  if (!known && parts_.answers->within(tunnel.peer(), flow->rtt.timeout(0), now)) {
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
void Shard::seek_silent(Nanos now) {
  next_attempt_ = kNever;
  for (size_t p = 0; p < peers_.size(); ++p) {
    if (!silent(p)) continue;
    Peer& peer = peers_[p];
    if (now >= peer.next_attempt) {
      peer.next_attempt = now + kProbe;
      Tunnel& tunnel = *tunnels_[peer.seeker];
      sender::Flow* const flow = state_.flows.find(tunnel.flow);
      if (flow != nullptr && flow->datagrams == &tunnel) {
        customers_[flow->host]->source->retry(*flow, now);
      } else {
        open(tunnel, now);
      }
    }
    next_attempt_ = std::min(next_attempt_, peer.next_attempt);
  }
}

void Shard::sweep(Nanos now) {
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
    sender::Flow* const flow = state_.flows.find(tunnel.flow);
    if (flow == nullptr || flow->datagrams != &tunnel || flow->stage != sender::Stage::kOpen)
      continue;
    if (tunnel.waiting() == 0 && now - tunnel.last_packet() >= own_.idle)
      customer.source->stop(*flow, now);
  }
}

}  // namespace turnpike::gateway
