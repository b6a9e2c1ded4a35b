// SPDX-License-Identifier: BSD-3-Clause
// Sixth stage: puts priced packets into the link's queue.
#include "router/datapath/egress/rewrite.h"
#include "router/datapath/link/link_queue.h"

namespace turnpike::router {

namespace {

/// B on the link of the set `left`; equals the group's unless price() dropped some.
uint64_t bytes_of(const Burst& burst, const PricedGroup& group, uint32_t left) {
  if (left == group.members) [[likely]]
    return group.bytes;
  uint64_t bytes = 0;
  for_each(left, [&](unsigned i) { bytes += burst.info[i].size; });
  return bytes;
}

}  // namespace

void LinkQueue::enqueue(Burst& burst, const PricedGroup& group) {
  if (ring_ != nullptr) {
    enqueue_to_owner(burst, group);
  } else {
    enqueue_to_port(burst, group);
  }
}

void LinkQueue::enqueue_to_owner(Burst& burst, const PricedGroup& group) {
  std::array<QueuedPacket, kBurst> batch;
  std::array<uint8_t, kBurst> members;
  unsigned n = 0;
  const uint8_t protocol = link_.protocol;
  const bool by_class = link_.traits.classes > 1;
  const uint32_t left = group.members & burst.forward;
  for_each(left, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    rewrite(burst.mbufs[i], p);
    batch[n] = {.mbuf = burst.mbufs[i],
                .time = burst.since,
                .size = p.size,
                .congestion = p.protocol == protocol ? p.congestion : uint16_t{0},
                .opens = p.has(kOpens),
                .queue_class = by_class ? group.classes[i] : uint8_t{0}};
    members[n++] = static_cast<uint8_t>(i);
  });
  // Counts before the owner sees the packets, so that `out` never exceeds `in`.
  enter(bytes_of(burst, group, left), n);
  if (by_class) {
    push_by_class(burst, {batch.data(), n}, members.data());
  } else {
    push(burst, {batch.data(), n}, members.data(), 0);
  }
}

// Puts packets, which are counted already, into the ring. `members`: their places in the burst.
void LinkQueue::push(Burst& burst, std::span<const QueuedPacket> batch, const uint8_t* members,
                     unsigned queue_class) {
  const unsigned taken = ring_->push(batch, queue_class);
  for (unsigned k = 0; k < taken; ++k) burst.leave(members[k]);
  for (size_t k = taken; k < batch.size(); ++k) {
    shard_.leave(batch[k].size);
    burst.drop(members[k], DropReason::kQueueSlots);
  }
}

void LinkQueue::push_by_class(Burst& burst, std::span<const QueuedPacket> batch,
                              const uint8_t* members) {
  for (unsigned c = 0; c < link_.traits.classes; ++c) {
    std::array<QueuedPacket, kBurst> own;
    std::array<uint8_t, kBurst> own_members;
    unsigned n = 0;
    uint64_t bytes = 0;
    for (size_t k = 0; k < batch.size(); ++k) {
      if (batch[k].queue_class != c) continue;
      bytes += batch[k].size;
      own_members[n] = members[k];
      own[n++] = batch[k];
    }
    shard_.class_in[c].add(bytes);
    push(burst, {own.data(), n}, own_members.data(), c);
    for (unsigned k = 0; k < n; ++k) {
      if ((burst.dropped >> own_members[k] & 1) != 0) shard_.class_out[c].add(own[k].size);
    }
  }
}

void LinkQueue::enqueue_to_port(Burst& burst, const PricedGroup& group) {
  const uint32_t left = group.members & burst.forward;
  const auto packets = static_cast<unsigned>(std::popcount(left));
  if (packets == 0) return;
  const uint64_t bytes = bytes_of(burst, group, left);
  enter(bytes, packets);
  shard_.waits.record(bytes, from_seconds(group.backlog / link_.capacity), packets);
  for_each(left, [&](unsigned i) { rewrite(burst.mbufs[i], burst.info[i]); });
  // Sends a full burst at once, while the packets are in the L1 cache.
  if (packets == kBurst && tx_->empty()) {
    tx_->send(burst, bytes);
  } else {
    tx_->append(burst, left);
    if (tx_->waiting() >= kBurst) tx_->flush(burst.now);
  }
  burst.forward &= ~left;
}

}  // namespace turnpike::router
