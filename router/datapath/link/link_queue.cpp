// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/link_queue.h"

#include "router/datapath/link/link_shaper.h"

namespace turnpike::router {

LinkQueue::LinkQueue(EgressLink& link, unsigned worker, QueuePair* port, Nanos slack,
                     Nanos& idle_until)
    : link_(link),
      shard_(link.shards[worker]),
      audit_(link.audits.empty() ? nullptr : link.audits[worker].get()),
      ring_(link.ring[worker].get()),
      tx_(port != nullptr ? std::make_unique<PortTx>(*port, shard_) : nullptr),
      idle_until_(idle_until),
      worker_(worker) {
  if (owner() && std::ranges::any_of(link.ring, [](const auto& ring) { return ring != nullptr; }))
    shaper_ = std::make_unique<LinkShaper>(link, worker, slack);
}

LinkQueue::LinkQueue(LinkQueue&&) noexcept = default;
LinkQueue::~LinkQueue() = default;

LinkState LinkQueue::state_at(double queue) const {
  LinkState s{
      .capacity = link_.capacity, .queue = queue, .buffer = static_cast<double>(link_.buffer)};
  if (link_.traits.classes > 1)
    for (unsigned c = 0; c < link_.traits.classes; ++c) s.queues[c] = link_.queued_of(c);
  return s;
}

// At line rate the backlog is the larger of two counts of the same packets: those that the port has
// not taken, and those that the link cannot have carried yet.
LinkState LinkQueue::observe(Nanos now) {
  const auto queued = static_cast<double>(link_.queued());
  if (link_.drain == config::Drain::kShaped) return state_at(queued);
  return state_at(std::max(queued, link_.update_virtual_queue(shard_, now)));
}

// Packets received after a stall fill it with their transmission times: the law counts this part of
// the stall as time. The rest, in which the link would have been idle, is left out.
void LinkQueue::fill_gap(uint64_t bytes) {
  const Nanos took = min(owed_, from_seconds(static_cast<double>(bytes) / link_.capacity));
  owed_ -= took;
  if (!link_.traits.knows_stalls) missed_ -= took;
}

void LinkQueue::enter(uint64_t bytes, uint64_t packets) {
  shard_.enter(bytes, packets);
  if (link_.drain == config::Drain::kShaped) return;
  QueueView view = shard_.virtual_queue.own();
  view.bytes += static_cast<double>(bytes);
  view.total += bytes;
  shard_.virtual_queue.store(view);
}

void LinkQueue::publish(Nanos now) {
  if (link_.law) link_.law->arrive(worker_, {}, observe(now), law_time(now));
}

Nanos LinkQueue::update(Nanos now) {
  if (!owner() || !link_.law) return kNever;
  if (law_time(now) >= next_update_) {
    next_update_ = link_.law->update(state_at(static_cast<double>(link_.queued())), law_time(now));
    if (shaper_) shaper_->read_weights();
  }
  return next_update_ == kNever ? kNever : next_update_ + missed_;
}

// The time until which nothing is due is known if all packets come from this worker, in one class.
Nanos LinkQueue::poll(Nanos now) {
  moved_ = false;
  idle_until_ = Nanos(0);
  if (!tx_) return idle_until_ = kNever;
  if (!up()) [[unlikely]]
    return drop_waiting(now);
  Nanos next = kNever;
  if (shaper_) {
    next = shaper_->poll(*this, *tx_, now);
    moved_ = shaper_->moved();
  }
  if (!tx_->empty()) {
    tx_->flush(now);
    if (!tx_->empty()) return min(next, now + LinkShaper::kPortRetry);
  }
  if (!shaper_ || (ring_ != nullptr && shaper_->single())) idle_until_ = next;
  return next;
}

// The law is not called: a link that comes up again goes on with its prices.
Nanos LinkQueue::drop_waiting(Nanos now) {
  tx_->discard(DropReason::kLinkDown);
  if (!shaper_) return kNever;
  const bool left = shaper_->discard_some(DropReason::kLinkDown);
  moved_ = shaper_->moved();
  return left ? now : kNever;
}

void LinkQueue::read_link(bool begins) {
  audit_ = link_.audits.empty() ? nullptr : link_.audits[worker_].get();
  ring_ = link_.ring[worker_].get();
  if (begins || next_update_ == kNever) next_update_ = Nanos(0);
  if (shaper_) shaper_->read_link();
  idle_until_ = Nanos(0);
}

std::array<double, kMaxClasses> LinkQueue::waiting_bytes(unsigned kept) const {
  std::array<double, kMaxClasses> waiting{};
  double rest =
      static_cast<double>(link_.queued()) - static_cast<double>(tx_ ? tx_->waiting_bytes() : 0);
  for (unsigned c = 0; c < kept && link_.traits.classes > 1; ++c) {
    waiting[c] = link_.queued_of(c);
    rest -= waiting[c];
  }
  if (kept < kMaxClasses) waiting[kept] = std::max(rest, 0.0);
  return waiting;
}

void LinkQueue::replace_shaper(std::unique_ptr<LinkShaper>& made, unsigned kept, bool moved,
                               std::array<double, kMaxClasses> waiting) {
  made->replace(*shaper_, kept, moved);
  std::swap(shaper_, made);
  idle_until_ = Nanos(0);
  const unsigned classes = link_.traits.classes;
  if (kept < classes - 1) std::swap(waiting[kept], waiting[classes - 1]);
  for (LinkShard& s : link_.shards)
    for (unsigned c = 0; c < kMaxClasses; ++c) {
      s.class_in[c].set(&s == &shard_ && c < classes ? static_cast<uint64_t>(waiting[c]) : 0);
      s.class_out[c].set(0);
    }
}

bool LinkQueue::drains(const LinkRing* ring) const { return shaper_ && shaper_->drains(ring); }

void LinkQueue::discard(DropReason why) {
  idle_until_ = Nanos(0);
  if (shaper_) shaper_->discard(why);
  if (tx_) tx_->discard(why);
}

}  // namespace turnpike::router
