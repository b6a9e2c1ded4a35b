// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/drain.h"

#include <algorithm>
#include <cmath>

#include "router/datapath/price.h"

namespace turnpike::router {

LinkDrain::LinkDrain(EgressLink& link, const Lane& lane, PortSender& sender, Nanos slack)
    : link_(link),
      lane_(lane),
      sender_(sender),
      slack_(slack),
      nanos_per_byte_(1e9 / link.capacity) {
  for (const auto& ring : link.hand_off)
    if (ring) sources_.push_back({.ring = ring.get(), .head = {}});
}

LinkDrain::Source* LinkDrain::earliest() {
  Source* best = nullptr;
  for (Source& s : sources_) {
    if (s.next == s.count) {
      s.next = 0;
      s.count = s.ring->pop(s.head);
      if (s.count == 0) continue;
    }
    if (best == nullptr || s.head[s.next].time < best->head[best->next].time) best = &s;
  }
  return best;
}

Nanos LinkDrain::departure(const Queued& q, Nanos now) const {
  // Rounded up: a packet never leaves before the link is free.
  const Nanos free = fraction_ > 0 ? free_ + 1_ns : free_;
  return std::max({free, q.time, now - slack_});
}

Nanos LinkDrain::poll(Nanos now) {
  moved_ = false;
  if (!sender_.empty()) {  // the port is behind: the queue holds the rest
    sender_.flush(now);
    if (!sender_.empty()) return now + kPortRetry;
  }
  const bool shaped = link_.drain == config::Drain::kShaped;
  QueueMeter& waits = link_.shards[lane_.index].waits;
  std::array<Queued, kBatch> batch;
  for (unsigned sent = 0; sent < kPerPoll;) {
    unsigned n = 0;
    Nanos next = kNever;
    while (n < kBatch) {
      Source* s = earliest();
      if (s == nullptr) break;
      const Queued& q = s->head[s->next];
      if (shaped) {
        const Nanos when = departure(q, now);
        if (when > now) {
          next = when;
          break;
        }
        waits.record(q.size, when - q.time);
        // The fraction of a nanosecond goes on only while the link is busy.
        if (when > free_ + 1_ns || (fraction_ == 0 && when > free_)) {
          free_ = when;
          fraction_ = 0;
        }
        fraction_ += q.size * nanos_per_byte_;
        const double whole = std::floor(fraction_);
        free_ += Nanos(static_cast<int64_t>(whole));
        fraction_ -= whole;
      }
      batch[n++] = q;
      ++s->next;
    }
    if (n > 0) send(std::span(batch.data(), n), now);
    if (n < kBatch || !sender_.empty()) return sender_.empty() ? next : now + kPortRetry;
    sent += n;
  }
  return now;
}

void LinkDrain::send(std::span<const Queued> batch, Nanos now) {
  moved_ = true;
  if (link_.departs) price_departure(link_, lane_, batch, now);
  for (const Queued& q : batch) sender_.append(q.mbuf, q.size, now);
  sender_.flush(now);
}

Nanos LinkDrain::update(Nanos now) {
  if (!link_.law) return kNever;
  if (lane_.law_time(now) >= next_update_) {
    const LinkState state = state_of(link_, static_cast<double>(link_.queued()));
    next_update_ = link_.law->update(state, lane_.law_time(now));
  }
  return next_update_ == kNever ? kNever : next_update_ + lane_.missed;
}

void LinkDrain::discard(DropReason why) {
  LinkShard& shard = link_.shards[lane_.index];
  for (Source* s = earliest(); s != nullptr; s = earliest()) {
    const Queued& q = s->head[s->next++];
    shard.leave(q.size);
    shard.drop(why);
    rte_pktmbuf_free(q.mbuf);
  }
}

}  // namespace turnpike::router
