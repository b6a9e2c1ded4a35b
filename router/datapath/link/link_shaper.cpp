// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/link_shaper.h"

#include <algorithm>

namespace turnpike::router {

LinkShaper::LinkShaper(EgressLink& link, unsigned worker, Nanos slack)
    : link_(link),
      shard_(link.shards[worker]),
      slack_(slack),
      nanos_per_byte_(1e9 / link.capacity) {
  for (unsigned c = 0; c < link.traits.classes; ++c)
    for (const auto& ring : link.ring)
      if (ring) sources_.push_back({.ring = ring.get(), .queue_class = c, .head = {}});
  read_weights();
}

void LinkShaper::read_weights() {
  if (link_.traits.classes == 1) return;
  for (unsigned c = 0; c < link_.traits.classes; ++c)
    scheduler_.set_weight(c, link_.law->weight(c));
}

LinkShaper::Source* LinkShaper::earliest(std::span<Source> sources) {
  Source* best = nullptr;
  for (Source& s : sources) {
    if (!s.ready()) continue;
    if (best == nullptr || s.front().time < best->front().time) best = &s;
  }
  return best;
}

LinkShaper::Source* LinkShaper::choose_by_class(Nanos now) {
  std::array<Source*, kMaxClasses> first{};
  const size_t each = sources_.size() / link_.traits.classes;
  Nanos free = kNever;  // earliest time of a transmission
  for (unsigned c = 0; c < link_.traits.classes; ++c) {
    first[c] = earliest(std::span(sources_).subspan(c * each, each));
    if (first[c] != nullptr) free = std::min(free, departure(first[c]->front(), now));
  }
  unsigned waiting = 0;
  for (unsigned c = 0; c < link_.traits.classes; ++c)
    if (first[c] != nullptr && first[c]->front().time <= free) waiting |= 1U << c;
  return waiting == 0 ? nullptr : first[scheduler_.pick(waiting)];
}

Nanos LinkShaper::poll(LinkQueue& queue, PortTx& port, Nanos now) {
  moved_ = false;
  if (!port.empty()) {  // the port is behind: packets stay in the rings
    port.flush(now);
    if (!port.empty()) return now + kPortRetry;
  }
  if (choose(now) == nullptr) return kNever;
  const bool shaped = link_.drain == config::Drain::kShaped;
  std::array<QueuedPacket, kBatch> batch;
  for (unsigned sent = 0; sent < kPerPoll;) {
    unsigned n = 0;
    Nanos next = kNever;
    while (n < kBatch) {
      Source* s = choose(now);
      if (s == nullptr) break;
      const QueuedPacket& q = s->front();
      if (shaped) {
        const Nanos when = departure(q, now);
        if (when > now) {
          next = when;
          break;
        }
        shard_.waits.record(q.size, when - q.time);
        // The fraction of a nanosecond carries over only while the link is busy.
        if (when > free_ + 1_ns || (fraction_ == 0 && when > free_)) {
          free_ = when;
          fraction_ = 0;
        }
        fraction_ += q.size * nanos_per_byte_;
        const auto whole = static_cast<int64_t>(fraction_);
        free_ += Nanos(whole);
        fraction_ -= static_cast<double>(whole);
      }
      if (link_.traits.classes > 1) take_from_class(q);
      batch[n++] = q;
      ++s->next;
    }
    if (n > 0) {
      moved_ = true;
      queue.dequeue(std::span(batch.data(), n), now);
    }
    if (n < kBatch || !port.empty()) return port.empty() ? next : now + kPortRetry;
    sent += n;
  }
  return now;
}

void LinkShaper::take_from_class(const QueuedPacket& q) {
  scheduler_.served(q.queue_class, q.size);
  shard_.class_out[q.queue_class].add(q.size);
}

void LinkShaper::discard(DropReason why) {
  for (Source* s = earliest(sources_); s != nullptr; s = earliest(sources_)) {
    const QueuedPacket& q = s->head[s->next++];
    shard_.leave(q.size);
    shard_.drop(why);
    rte_pktmbuf_free(q.mbuf);
  }
}

}  // namespace turnpike::router
