// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/link_shaper.h"

#include <algorithm>
#include <bit>

#include "router/datapath/scratch.h"

namespace turnpike::router {

LinkShaper::LinkShaper(EgressLink& link, unsigned worker, Nanos slack)
    : link_(link), shard_(link.shards[worker]), slack_(slack) {
  add_sources();
  read_link();
}

void LinkShaper::read_link() {
  nanos_per_byte_ = 1e9 / link_.capacity;
  for (unsigned c = 0; c < link_.tree.size(); ++c)
    scheduler_.set_parent(c, link_.tree[c].parent, link_.tree[c].parent_weight);
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

void LinkShaper::find_first(unsigned c) {
  first_[c] = earliest(std::span(sources_).subspan(begin_[c], begin_[c + 1] - begin_[c]));
  const uint32_t bit = uint32_t{1} << c;
  waiting_ = first_[c] != nullptr ? waiting_ | bit : waiting_ & ~bit;
}

LinkShaper::Source* LinkShaper::choose_by_class(Nanos now) {
  // Blocking packets belong to the last class.
  if (held_ != 0 && (waiting_ >> (link_.traits.classes - 1) & 1) == 0) [[unlikely]]
    held_ = 0;
  const uint32_t eligible = waiting_ & ~held_;
  if (eligible == 0) return nullptr;
  const Nanos free = departure(Nanos(0), now);
  uint32_t present = 0;  // when the link is free
  Nanos next = kNever;
  for (uint32_t left = eligible; left != 0; left &= left - 1) {
    const auto c = static_cast<unsigned>(std::countr_zero(left));
    const Nanos time = first_[c]->front().time;
    present |= uint32_t{time <= free} << c;
    next = min(next, time);
  }
  for (uint32_t left = present == 0 ? eligible : 0; left != 0; left &= left - 1) {
    const auto c = static_cast<unsigned>(std::countr_zero(left));
    present |= uint32_t{first_[c]->front().time == next} << c;
  }
  return first_[scheduler_.pick(present)];
}

Nanos LinkShaper::poll(LinkQueue& queue, PortTx& port, Nanos now) {
  moved_ = false;
  if (!port.empty()) {  // the port is behind: packets stay in the rings
    port.flush(now);
    if (!port.empty()) return now + kPortRetry;
  }
  if (draining_ > 0) [[unlikely]]
    drop_drained();
  const unsigned classes = link_.traits.classes;
  for (unsigned c = 0; c < classes && classes > 1; ++c) find_first(c);
  if (choose(now) == nullptr) return kNever;
  const bool shaped = link_.drain == config::Drain::kShaped;
  Scratch<QueuedPacket> scratch;
  auto& batch = scratch.of;
  for (unsigned sent = 0; sent < kPerPoll;) {
    unsigned n = 0;
    Nanos next = kNever;
    while (n < kBatch) {
      Source* s = choose(now);
      if (s == nullptr) break;
      const QueuedPacket& q = s->front();
      if (shaped) {
        const Nanos when = departure(q.time, now);
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
      batch[n++] = q;
      ++s->next;
      s->prefetch();
      if (classes > 1) {
        batch[n - 1].queue_class = s->queue_class;
        take_from_class(batch[n - 1]);
      }
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
  // With one worker a class's packets have one source.
  const Source& s = *first_[q.queue_class];
  if (sources_.size() > link_.traits.classes || s.next >= s.count) find_first(q.queue_class);
}

bool LinkShaper::discard_some(DropReason why) {
  moved_ = false;
  for (unsigned n = 0; n < kPerPoll; ++n) {
    Source* s = earliest(sources_);
    if (s == nullptr) return false;
    moved_ = true;
    const QueuedPacket& q = s->head[s->next++];
    if (link_.traits.classes > 1) shard_.class_out[s->queue_class].add(q.size);
    shard_.leave(q.size);
    shard_.drop(why);
    rte_pktmbuf_free(q.mbuf);
  }
  return true;
}

}  // namespace turnpike::router
