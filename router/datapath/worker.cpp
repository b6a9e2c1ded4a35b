// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/worker.h"

#include <algorithm>

#include "router/datapath/answer.h"
#include "router/datapath/parse.h"
#include "router/datapath/queue.h"
#include "router/datapath/route.h"
#include "router/datapath/rx.h"

namespace turnpike::router {

Worker::Worker(const Parts& parts) : tables_(*parts.tables) {
  lane_.index = parts.index;
  lane_.tables = tables_.load(std::memory_order_acquire);
  lane_.pool = parts.pool;
  lane_.counters = parts.counters;
  lane_.errors = parts.errors;
  lane_.buffers = parts.buffers;
  for (unsigned l = 0; l < parts.links.size(); ++l) {
    EgressLink& link = *parts.links[l];
    LinkShard& shard = link.shards[parts.index];
    QueuePair* port = parts.ports[l];
    senders_.push_back(port != nullptr ? std::make_unique<PortSender>(*port, shard) : nullptr);
    lane_.egress.push_back({.link = &link,
                            .shard = &shard,
                            .sender = senders_.back().get(),
                            .hand_off = link.hand_off[parts.index].get()});
    shared_ = shared_ || (link.law && link.shards.size() > 1);
    if (port != nullptr) inputs_.push_back({l, port});
    if (link.owner == parts.index) drains_.emplace_back(lane_, l, parts.slack);
  }
}

Nanos Worker::poll(Nanos now) {
  if (++polls_ % kHousekeeping == 0 || (shared_ && now >= kept_ + kFresh)) keep_house(now);
  Nanos next = shared_ ? kept_ + kFresh : kNever;
  lane_.scarce = lane_.buffers.scarce();
  if (lane_.scarce) [[unlikely]]
    lane_.buffers.share([this](size_t l) { return lane_.egress[l].link->held(); });
  moved_ = false;
  // In turns: the first of several bursts at one time finds the lowest price.
  if (++first_ >= inputs_.size()) first_ = 0;
  for (size_t i = 0, at = first_; i < inputs_.size(); ++i, ++at) {
    if (at == inputs_.size()) at = 0;
    Input& in = inputs_[at];
    const unsigned n = rx(burst_, *in.port, in.link, lane_.shard(in.link), now);
    next = std::min(next, n == kBurst ? now : in.port->next_deadline());
    if (in.behind) [[unlikely]] {
      burst_.since = stall_;
      in.behind = n == kBurst;
    }
    if (n == 0) continue;
    moved_ = true;
    parse(burst_, lane_);
    route(burst_, lane_);
    answer(burst_, lane_);
    send_on(burst_, lane_);
    lane_.sweep(burst_);
    // What came during a stall finds the room that the link would have made by now.
    if (behind_) [[unlikely]]
      next = std::min(next, drain(now));
  }
  if (behind_) [[unlikely]]
    settle();
  return std::min(next, drain(now));
}

void Worker::missed(Nanos since, Nanos now) {
  for (Egress& e : lane_.egress) e.stall(now - since);
  stall_ = since;
  for (Input& in : inputs_) in.behind = true;
  behind_ = !inputs_.empty();
}

// All that came during the stall is in when no input has more of it.
void Worker::settle() {
  behind_ = std::ranges::any_of(inputs_, &Input::behind);
  if (behind_) return;
  for (Egress& e : lane_.egress) e.owed = Nanos(0);
}

void Worker::keep_house(Nanos now) {
  kept_ = now;
  lane_.tables = tables_.load(std::memory_order_acquire);
  for (Egress& e : lane_.egress) {
    if (!e.link->law) continue;
    const LinkState state = state_of(*e.link, e.backlog(now));
    e.link->law->arrive(lane_.index, {}, state, e.law_time(now));
  }
}

Nanos Worker::drain(Nanos now) {
  Nanos next = kNever;
  if (now >= next_update_) {
    next_update_ = kNever;
    for (LinkDrain& d : drains_) next_update_ = std::min(next_update_, d.update(now));
  }
  for (LinkDrain& d : drains_) {
    next = std::min(next, d.poll(now));
    moved_ = moved_ || d.moved();
  }
  for (const auto& sender : senders_) {
    if (!sender || sender->empty()) continue;
    sender->flush(now);
    if (!sender->empty()) next = std::min(next, now + LinkDrain::kPortRetry);
  }
  return std::min(next, next_update_);
}

void Worker::discard() {
  for (LinkDrain& d : drains_) d.discard(DropReason::kShutdown);
  for (const auto& sender : senders_)
    if (sender) sender->discard(DropReason::kShutdown);
}

}  // namespace turnpike::router
