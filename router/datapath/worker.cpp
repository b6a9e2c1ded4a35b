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

namespace turnpike::router {

Worker::Worker(const Parts& parts) : tables_(*parts.tables) {
  context_.index = parts.index;
  context_.tables = tables_.load(std::memory_order_acquire);
  context_.pool = parts.pool;
  context_.counters = parts.counters;
  context_.errors = parts.errors;
  context_.buffers = parts.buffers;
  context_.enforcement = parts.enforcement;
  context_.customers = parts.customers;
  context_.multicast = parts.multicast;
  const bool groups = std::ranges::any_of(
      parts.links, [](const EgressLink* link) { return link->groups != nullptr; });
  context_.queues.reserve(parts.links.size());
  for (unsigned l = 0; l < parts.links.size(); ++l) {
    EgressLink& link = *parts.links[l];
    QueuePair* port = parts.ports[l];
    context_.queues.emplace_back(link, parts.index, port, parts.slack);
    shared_ = shared_ || (link.law && link.shards.size() > 1);
    if (port == nullptr) continue;
    Input in{.link = l, .port = port};
    in.edge = parts.enforcement != nullptr && parts.enforcement->edge(l);
    in.customers = in.edge || groups;
    if (l < parts.source_checks.size()) in.source_check = parts.source_checks[l];
    in.guarded = in.customers || in.source_check != config::SourceCheck::kOff;
    inputs_.push_back(in);
  }
}

Nanos Worker::poll(Nanos now) {
  if (++polls_ % kHousekeeping == 0 || (shared_ && now >= housekeeping_ + kPublishInterval))
    housekeeping(now);
  Nanos next = shared_ ? housekeeping_ + kPublishInterval : kNever;
  context_.scarce = context_.buffers.scarce();
  if (context_.scarce) [[unlikely]]
    context_.buffers.share([this](size_t l) { return context_.queues[l].held(); });
  moved_ = false;
  // Inputs take turns, because the first of several bursts at the same time gets the lowest price.
  if (++first_ >= inputs_.size()) first_ = 0;
  for (size_t i = 0, at = first_; i < inputs_.size(); ++i, ++at) {
    if (at == inputs_.size()) at = 0;
    Input& in = inputs_[at];
    const unsigned n = rx(burst_, *in.port, in.link, context_.queues[in.link], now);
    next = std::min(next, n == kBurst ? now : in.port->next_deadline());
    if (in.behind) [[unlikely]] {
      burst_.since = stall_begin_;
      in.behind = n == kBurst;
    }
    if (n == 0) continue;
    moved_ = true;
    parse(burst_, context_);
    if (in.guarded) [[unlikely]]
      identify(in);
    lookup(burst_, context_);
    if (context_.enforcement != nullptr) [[unlikely]]
      enforce(in);
    if (burst_.apart() != 0) [[unlikely]] {
      multicast(burst_, context_);
      local_input(burst_, context_);
    }
    forward(burst_, context_);
    context_.sweep(burst_);
    // Drains, so that packets which arrived during a stall find the room made by now.
    if (behind_) [[unlikely]]
      next = std::min(next, drain(now));
  }
  if (context_.multicast != nullptr && context_.index == MulticastState::kOwner) [[unlikely]]
    moved_ = collect_answers(context_, now) || moved_;
  if (behind_) [[unlikely]]
    end_stall();
  return std::min(next, drain(now));
}

// Checks and finds the senders of a burst from an input with customers or a source check.
void Worker::identify(const Input& in) {
  if (in.source_check != config::SourceCheck::kOff)
    check_sources(burst_, in.source_check, context_);
  if (in.customers) find_customers(burst_, context_, in.edge);
}

void Worker::enforce(const Input& in) {
  if (in.edge) charge_customers(burst_, context_);
  credit_acks(burst_, context_);
}

void Worker::stall(Nanos since, Nanos now) {
  for (LinkQueue& q : context_.queues) q.stall(now - since);
  stall_begin_ = since;
  for (Input& in : inputs_) in.behind = true;
  behind_ = !inputs_.empty();
}

// The stall ends when no input has packets left that arrived during it.
void Worker::end_stall() {
  behind_ = std::ranges::any_of(inputs_, &Input::behind);
  if (behind_) return;
  for (LinkQueue& q : context_.queues) q.end_stall();
}

void Worker::housekeeping(Nanos now) {
  housekeeping_ = now;
  context_.tables = tables_.load(std::memory_order_acquire);
  for (LinkQueue& q : context_.queues) q.publish(now);
}

Nanos Worker::drain(Nanos now) {
  if (now >= next_update_) {
    next_update_ = kNever;
    for (LinkQueue& q : context_.queues) next_update_ = std::min(next_update_, q.update(now));
  }
  Nanos next = next_update_;
  for (LinkQueue& q : context_.queues) {
    next = std::min(next, q.poll(now));
    moved_ = moved_ || q.moved();
  }
  return next;
}

void Worker::discard() {
  if (context_.multicast != nullptr && context_.index == MulticastState::kOwner)
    discard_answers(context_);
  for (LinkQueue& q : context_.queues) q.discard(DropReason::kShutdown);
}

}  // namespace turnpike::router
