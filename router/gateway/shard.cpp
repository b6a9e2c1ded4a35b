// SPDX-License-Identifier: BSD-3-Clause
// The life of the tunnels' flows: opened by a packet, closed after a pause.
#include "router/gateway/shard.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/units/max_min.h"

namespace turnpike::gateway {
namespace {

constexpr size_t kMaxExpiries = 512;  // timers per poll
constexpr Nanos kRetry = 10_us;       // until the next poll while packets wait to be sent
constexpr size_t kSweep = 256;        // tunnels that one sweep looks at
constexpr Nanos kSweepInterval = 100_ms;
constexpr double kNoCeiling = std::numeric_limits<double>::infinity();
constexpr Nanos kShareInterval = 1_ms;
constexpr Nanos kPutOff = 50_ms;

}  // namespace

Shard::~Shard() {
  state_.flows.for_each([&](sender::Flow& f) { customers_[f.host]->source->abandon(f, Nanos(0)); });
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
