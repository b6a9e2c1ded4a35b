// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/worker.h"

#include <algorithm>

#include "router/datapath/ingress/parse.h"
#include "router/datapath/ingress/rx.h"
#include "router/datapath/link/enqueue.h"
#include "router/datapath/local/local_input.h"
#include "router/datapath/lookup/lookup.h"

namespace turnpike::router {

Worker::Worker(const Parts& parts) : tables_(*parts.tables) {
  context_.index = parts.index;
  context_.tables = tables_.load(std::memory_order_acquire);
  context_.pool = parts.pool;
  context_.counters = parts.counters;
  context_.errors = parts.errors;
  context_.buffers = parts.buffers;
  for (unsigned l = 0; l < parts.links.size(); ++l) {
    EgressLink& link = *parts.links[l];
    LinkShard& shard = link.shards[parts.index];
    QueuePair* port = parts.ports[l];
    senders_.push_back(port != nullptr ? std::make_unique<PortTx>(*port, shard) : nullptr);
    context_.egress.push_back({.link = &link,
                               .shard = &shard,
                               .sender = senders_.back().get(),
                               .ring = link.ring[parts.index].get()});
    shared_ = shared_ || (link.law && link.shards.size() > 1);
    if (port != nullptr) inputs_.push_back({l, port});
    if (link.owner == parts.index) shapers_.emplace_back(context_, l, parts.slack);
  }
}

Nanos Worker::poll(Nanos now) {
  if (++polls_ % kHousekeeping == 0 || (shared_ && now >= kept_ + kPublishInterval))
    housekeeping(now);
  Nanos next = shared_ ? kept_ + kPublishInterval : kNever;
  context_.scarce = context_.buffers.scarce();
  if (context_.scarce) [[unlikely]]
    context_.buffers.share([this](size_t l) { return context_.egress[l].link->held(); });
  moved_ = false;
  // In turns: the first of several bursts at one time finds the lowest price.
  if (++first_ >= inputs_.size()) first_ = 0;
  for (size_t i = 0, at = first_; i < inputs_.size(); ++i, ++at) {
    if (at == inputs_.size()) at = 0;
    Input& in = inputs_[at];
    const unsigned n = rx(burst_, *in.port, in.link, context_.shard(in.link), now);
    next = std::min(next, n == kBurst ? now : in.port->next_deadline());
    if (in.behind) [[unlikely]] {
      burst_.since = stall_;
      in.behind = n == kBurst;
    }
    if (n == 0) continue;
    moved_ = true;
    parse(burst_, context_);
    lookup(burst_, context_);
    local_input(burst_, context_);
    egress(burst_, context_);
    context_.sweep(burst_);
    // What came during a stall finds the room that the link would have made by now.
    if (behind_) [[unlikely]]
      next = std::min(next, drain(now));
  }
  if (behind_) [[unlikely]]
    settle();
  return std::min(next, drain(now));
}

void Worker::missed(Nanos since, Nanos now) {
  for (Egress& e : context_.egress) e.stall(now - since);
  stall_ = since;
  for (Input& in : inputs_) in.behind = true;
  behind_ = !inputs_.empty();
}

// All that came during the stall is in when no input has more of it.
void Worker::settle() {
  behind_ = std::ranges::any_of(inputs_, &Input::behind);
  if (behind_) return;
  for (Egress& e : context_.egress) e.owed = Nanos(0);
}

void Worker::housekeeping(Nanos now) {
  kept_ = now;
  context_.tables = tables_.load(std::memory_order_acquire);
  for (Egress& e : context_.egress) {
    if (!e.link->law) continue;
    const LinkState state = state_of(*e.link, e.backlog(now));
    e.link->law->arrive(context_.index, {}, state, e.law_time(now));
  }
}

Nanos Worker::drain(Nanos now) {
  Nanos next = kNever;
  if (now >= next_update_) {
    next_update_ = kNever;
    for (LinkShaper& d : shapers_) next_update_ = std::min(next_update_, d.update(now));
  }
  for (LinkShaper& d : shapers_) {
    next = std::min(next, d.poll(now));
    moved_ = moved_ || d.moved();
  }
  for (const auto& sender : senders_) {
    if (!sender || sender->empty()) continue;
    sender->flush(now);
    if (!sender->empty()) next = std::min(next, now + LinkShaper::kPortRetry);
  }
  return std::min(next, next_update_);
}

void Worker::discard() {
  for (LinkShaper& d : shapers_) d.discard(DropReason::kShutdown);
  for (const auto& sender : senders_)
    if (sender) sender->discard(DropReason::kShutdown);
}

}  // namespace turnpike::router
