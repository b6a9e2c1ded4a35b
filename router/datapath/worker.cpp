// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/worker.h"

#include <algorithm>

#include "router/datapath/enforcement/enforcement.h"
#include "router/datapath/enforcement/find_customers.h"
#include "router/datapath/enforcement/ingress_budget.h"
#include "router/datapath/forward.h"
#include "router/datapath/ingress/parse.h"
#include "router/datapath/ingress/rx.h"
#include "router/datapath/ingress/source_check.h"
#include "router/datapath/local/local_input.h"
#include "router/datapath/lookup/lookup.h"
#include "router/datapath/multicast/multicast.h"
#include "router/datapath/probe/probe.h"
#include "router/datapath/punt/punt.h"
#include "router/datapath/tunnel/tunnels.h"

namespace turnpike::router {
namespace {

// Of ports that do not know their next arrival: always due, so that they are polled.
constexpr Nanos kAnyTime{0};
const std::atomic<uint32_t> kNoChanges{0};

const Nanos* next_arrival(const QueuePair& port) {
  const Nanos* at = port.next_arrival();
  return at != nullptr ? at : &kAnyTime;
}

}  // namespace

Worker::Worker(const Parts& parts)
    : tables_(*parts.tables),
      routes_(*parts.routes),
      quiescence_(parts.quiescence),
      link_changes_(parts.link_changes != nullptr ? *parts.link_changes : kNoChanges),
      steering_(parts.steering),
      idle_until_(parts.links.size()),
      ports_(parts.ports),
      departures_(parts.links.size()) {
  context_.index = parts.index;
  context_.pool = parts.pool;
  context_.counters = parts.counters;
  context_.errors = parts.errors;
  context_.buffers = parts.buffers;
  context_.multicast = parts.multicast;
  context_.punt = parts.punt;
  if (context_.punt != nullptr) context_.groups = context_.punt->load_groups(context_.index);
  serves_rings_ = joins_answers() || context_.punt != nullptr;
  context_.queues.reserve(parts.links.size());
  for (unsigned l = 0; l < parts.links.size(); ++l) {
    QueuePair* port = parts.ports[l];
    context_.queues.emplace_back(*parts.links[l], parts.index, port, parts.slack, idle_until_[l]);
    if (port == nullptr) continue;
    inputs_.push_back({.link = l, .port = port});
    arrivals_.push_back(next_arrival(*port));
  }
  due_.resize(inputs_.size());
  read_parts(parts);
}

void Worker::read_parts(const Parts& parts) {
  context_.tables = tables_.load(std::memory_order_acquire);
  context_.routes = routes_.load(std::memory_order_acquire);
  context_.enforcement = parts.enforcement;
  context_.customers = parts.customers;
  const bool groups = std::ranges::any_of(
      parts.links, [](const EgressLink* link) { return link->groups != nullptr; });
  shared_ = std::ranges::any_of(
      parts.links, [](const EgressLink* link) { return link->law && link->shards.size() > 1; });
  for (Input& in : inputs_) {
    in.edge = parts.enforcement != nullptr && parts.enforcement->edge(in.link);
    in.customers = in.edge || groups;
    in.source_check = in.link < parts.source_checks.size() ? parts.source_checks[in.link]
                                                           : config::SourceCheck::kOff;
  }
  guard_inputs();
}

// Only bursts of guarded inputs are looked at before the lookup.
void Worker::guard_inputs() {
  const Probe* const probe = context_.probe;
  const bool observed = probe != nullptr && (probe->trace() != nullptr || probe->wants_dropped());
  for (Input& in : inputs_)
    in.guarded = observed || in.customers || in.source_check != config::SourceCheck::kOff;
}

void Worker::reconfigure(Parts& parts) {
  read_parts(parts);
  context_.buffers.take_shares(parts.buffers);
  next_update_ = Nanos(0);
}

Nanos Worker::poll(Nanos now) { return poll_with(now, NoStageTimer()); }

Nanos Worker::poll_timed(Nanos now, TickSource ticks, StageTimes& times) {
  return poll_with(now, StageTimer(ticks, times));
}

template <class Timer>
Nanos Worker::poll_with(Nanos now, Timer timer) {
  if (++polls_ % kHousekeeping == 0 || (shared_ && now >= housekeeping_ + kPublishInterval))
    housekeeping(now);
  context_.routes = routes_.load(std::memory_order_acquire);
  Nanos next = shared_ ? housekeeping_ + kPublishInterval : kNever;
  context_.scarce = context_.buffers.scarce();
  if (context_.scarce) [[unlikely]]
    context_.buffers.share([this](size_t l) { return context_.queues[l].held(); });
  moved_ = false;
  if (link_changes_.load(std::memory_order_acquire) != seen_changes_) [[unlikely]]
    wake_queues();
  // Late, such as after a sleep: sends what was due before arrivals are priced by the queue.
  if (now > drain_at_) [[unlikely]]
    drain(now);
  for (const uint16_t at : due_inputs(now, next)) {
    Input& in = inputs_[at];
    if (in.behind && waits_for_port(now)) [[unlikely]] {
      next = min(next, drain(now));
      continue;
    }
    const unsigned n = rx(burst_, *in.port, in.link, now);
    next = min(next, n == kBurst ? now : in.port->next_deadline());
    if (in.behind) [[unlikely]] {
      burst_.since = since_stall(now);
      in.behind = n == kBurst;
    }
    timer.lap(Stage::kRx);
    if (n == 0) continue;
    moved_ = true;
    timer.received(n);
    parse(burst_, context_);
    count_received(burst_, context_.queues[in.link]);
    timer.lap(Stage::kParse);
    if (in.guarded) [[unlikely]]
      examine(in);
    settle(in, timer);
    // Drains, so that packets which arrived during a stall find the room made by now.
    if (behind_) [[unlikely]] {
      next = min(next, drain(now));
      timer.lap(Stage::kTx);
    }
  }
  if (serves_rings_) [[unlikely]]
    next = min(next, serve_rings(now));
  if (context_.tunnels != nullptr) [[unlikely]]
    next = min(next, serve_tunnels(now));
  if (behind_) [[unlikely]]
    end_stall();
  drain_at_ = drain(now);
  next = min(next, drain_at_);
  timer.lap(Stage::kTx);
  timer.finish(moved_);
  if (steering_ != nullptr && steering_->leaving(context_.index)) [[unlikely]]
    report_departures(now);
  return next;
}

// The inputs that may have packets, beginning with another one in each poll: the first of several
// bursts at the same time gets the lowest price. Lowers `next` to the next arrival at the others.
std::span<const uint16_t> Worker::due_inputs(Nanos now, Nanos& next) {
  const size_t count = arrivals_.size();
  if (++first_ >= count) first_ = 0;
  const Nanos* const* const arrivals = arrivals_.data();
  uint16_t* const due = due_.data();
  const int64_t due_until = (behind_ ? kNever : now).count();
  int64_t later = next.count();
  size_t n = 0;
  // Without branches, and on plain numbers, which GCC keeps in registers.
  for (size_t i = 0, input = first_; i < count; ++i) {
    const int64_t at = arrivals[input]->count();
    due[n] = static_cast<uint16_t>(input);
    n += at <= due_until ? 1 : 0;
    later = std::min(later, at > now.count() ? at : INT64_MAX);
    input = input + 1 < count ? input + 1 : 0;
  }
  next = Nanos(later);
  return {due, n};
}

bool Worker::joins_answers() const {
  return context_.multicast != nullptr && context_.index == MulticastState::kOwner;
}

// From the lookup to the queues of the links.
template <class Timer>
inline void Worker::settle(const Input& in, Timer& timer) {
  lookup(burst_, context_);
  if (!sources_.empty()) [[unlikely]]
    find_customers(burst_, sources_, context_, in.edge);
  if (context_.enforcement != nullptr) [[unlikely]]
    enforce(in);
  if (context_.tunnels != nullptr) [[unlikely]]
    context_.tunnels->enter(burst_, context_);
  timer.lap(Stage::kLookup);
  if (burst_.apart() != 0) [[unlikely]] {
    settle_apart();
    timer.lap(Stage::kLocal);
  }
  forward(burst_, context_);
  context_.sweep(burst_);
  timer.lap(Stage::kForward);
}

// Packets that are not simply forwarded.
void Worker::settle_apart() {
  multicast(burst_, context_);
  if (context_.tunnels != nullptr) context_.tunnels->receive(burst_, context_);
  if (context_.punt != nullptr) punt(burst_, context_);
  local_input(burst_, context_);
}

// Packets that come from no port: answers of trees, frames of Linux, packets whose neighbours have
// been found. Returns the time of the next call without further ones.
Nanos Worker::serve_rings(Nanos now) {
  if (joins_answers()) moved_ = collect_answers(context_, now) || moved_;
  if (context_.punt == nullptr) return kNever;
  NeighbourQueue& waiting = *context_.punt->shard(context_.index).waiting;
  if (!inputs_.empty()) moved_ = send_from_linux(context_, now) || moved_;
  if (!waiting.due(now)) return waiting.next();
  take_waiting(burst_, context_, now);
  if (burst_.count > 0) {
    moved_ = true;
    const auto found = std::ranges::find(inputs_, burst_.input, &Input::link);
    const Input in = found != inputs_.end() ? *found : Input();
    // Anew: a reload may have changed the customers' numbers while the packets waited.
    if (in.customers) seek_customers(burst_, sources_, context_, in.edge);
    NoStageTimer timer;
    settle(in, timer);
  }
  return waiting.next();
}

// Looks at a burst of a guarded input. If a probe follows its packets, takes it through all stages:
// it is empty then, and the stages in poll() do nothing with it.
void Worker::examine(const Input& in) {
  Trace* const trace = context_.probe != nullptr ? context_.probe->trace() : nullptr;
  const bool traced = trace != nullptr && trace->choose(burst_);
  identify(in);
  if (traced || (context_.probe != nullptr && context_.probe->wants_dropped()))
    pass_observed(in, traced ? trace : nullptr);
}

// The stages after identify(), as in poll(). `trace`: null if it follows no packet of the burst.
void Worker::pass_observed(const Input& in, Trace* trace) {
  const auto after = [&](TraceStage stage, uint32_t members) {
    if (trace != nullptr) trace->after(stage, burst_, members);
  };
  constexpr uint32_t kAll = ~uint32_t{0};
  if (!sources_.empty()) find_customers(burst_, sources_, context_, in.edge);
  if (in.customers || in.source_check != config::SourceCheck::kOff)
    after(TraceStage::kIdentify, kAll);
  lookup(burst_, context_);
  after(TraceStage::kLookup, kAll);
  if (context_.enforcement != nullptr) {
    enforce(in);
    after(TraceStage::kCharge, kAll);
  }
  if (context_.tunnels != nullptr) {
    const uint32_t before = burst_.forward;
    context_.tunnels->enter(burst_, context_);
    after(TraceStage::kTunnel, before);
    const uint32_t entered = before & ~(burst_.forward | burst_.apart());
    if (trace != nullptr) trace->entered_tunnels(entered);
  }
  const uint32_t group = burst_.multicast;
  multicast(burst_, context_);
  after(TraceStage::kMulticast, group);
  if (context_.tunnels != nullptr) context_.tunnels->receive(burst_, context_);
  if (context_.punt != nullptr) punt(burst_, context_);
  const uint32_t local = burst_.local | burst_.oversized;
  local_input(burst_, context_);
  after(TraceStage::kLocalInput, local);
  if (trace != nullptr) {
    forward(burst_, context_, *trace);
    trace->finish(burst_);
  } else {
    forward(burst_, context_);
  }
  show_dropped(context_, burst_);
  context_.sweep(burst_);
}

// Checks and seeks the senders of a burst from an input with customers or a source check.
void Worker::identify(const Input& in) {
  if (in.source_check != config::SourceCheck::kOff)
    check_sources(burst_, in.source_check, context_);
  if (in.customers) seek_customers(burst_, sources_, context_, in.edge);
}

void Worker::enforce(const Input& in) {
  if (in.edge) charge_customers(burst_, context_);
  credit_acks(burst_, context_);
}

void Worker::stall(Nanos since, Nanos now) {
  for (LinkQueue& q : context_.queues) q.stall(now - since);
  if (context_.tunnels != nullptr) context_.tunnels->stalled(now);
  stall_begin_ = since;
  wait_until_ = now + (now - since);
  for (Input& in : inputs_) in.behind = true;
  behind_ = !inputs_.empty();
}

// A port may take what its link owes less fast than the worker receives it. A port whose peer is
// gone takes nothing: hence the bound.
bool Worker::waits_for_port(Nanos now) const {
  return now < wait_until_ && std::ranges::any_of(context_.queues, &LinkQueue::overfull);
}

// The stall ends when no input has packets left that arrived during it.
void Worker::end_stall() {
  behind_ = std::ranges::any_of(inputs_, &Input::behind);
  if (behind_) return;
  for (LinkQueue& q : context_.queues) q.end_stall();
}

// Time of arrival of packets that came during a stall. Those of buckets that have moved here since
// it began stay behind those that the other worker has sent: links order the workers' rings by it.
Nanos Worker::since_stall(Nanos now) const {
  if (steering_ == nullptr) return stall_begin_;
  return std::clamp(steering_->last_left() + 1_ns, stall_begin_, now);
}

// For another worker that waits for packets which this one has received before.
void Worker::report_departures(Nanos now) {
  const RssSteering::Move& move = steering_->move();
  if (!departures_.done(context_, move.tx_descriptors, move.tx_time, now)) return;
  departures_.restart();
  steering_->left(now);
}

void Worker::housekeeping(Nanos now) {
  housekeeping_ = now;
  context_.tables = tables_.load(std::memory_order_acquire);
  if (context_.punt != nullptr) context_.groups = context_.punt->load_groups(context_.index);
  for (LinkQueue& q : context_.queues) q.publish(now);
}

Nanos Worker::drain(Nanos now) {
  if (now >= next_update_) {
    next_update_ = kNever;
    for (LinkQueue& q : context_.queues) next_update_ = min(next_update_, q.update(now));
  }
  Nanos next = next_update_;
  for (size_t l = 0; l < idle_until_.size(); ++l) {
    if (now < idle_until_[l]) {
      next = min(next, idle_until_[l]);
      continue;
    }
    LinkQueue& q = context_.queues[l];
    next = min(next, q.poll(now));
    moved_ = moved_ || q.moved();
  }
  return next;
}

// Queues of links that have come up or gone down have work to do.
void Worker::wake_queues() {
  seen_changes_ = link_changes_.load(std::memory_order_acquire);
  std::ranges::fill(idle_until_, Nanos(0));
}

void show_dropped(const WorkerContext& context, const Burst& burst) {
  Mirror* const mirror = context.probe != nullptr ? context.probe->mirror() : nullptr;
  if (mirror == nullptr) return;
  for_each(burst.dropped, [&](unsigned i) {
    const DropReason why = burst.reason[i];
    const PacketInfo& p = burst.info[i];
    mirror->dropped(*burst.mbufs[i], at_egress(why) ? p.link : p.input, why, burst.now);
  });
}

void Worker::set_probe(Probe* probe) {
  context_.probe = probe;
  const auto observed = [&](unsigned l) {
    return probe == nullptr ? ports_[l] : &probe->before(l, *ports_[l]);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].port = observed(inputs_[i].link);
    arrivals_[i] = next_arrival(*inputs_[i].port);
  }
  guard_inputs();
  for (unsigned l = 0; l < ports_.size(); ++l)
    if (ports_[l] != nullptr) context_.queues[l].observe(*observed(l), probe, l);
}

void Worker::discard() {
  if (joins_answers()) discard_answers(context_);
  if (context_.tunnels != nullptr) discard_handed();
  if (context_.punt != nullptr) discard_waiting(context_);
  for (LinkQueue& q : context_.queues) q.discard(DropReason::kShutdown);
}

}  // namespace turnpike::router
