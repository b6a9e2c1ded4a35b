// SPDX-License-Identifier: BSD-3-Clause
// Sixth stage: puts priced packets into the link's queue.
#include "router/datapath/egress/rewrite.h"
#include "router/datapath/link/link_queue.h"
#include "router/datapath/scratch.h"

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
  idle_until_ = Nanos(0);
  if (ring_ != nullptr) {
    enqueue_to_owner(burst, group);
  } else {
    enqueue_to_port(burst, group);
  }
}

void LinkQueue::enqueue_to_owner(Burst& burst, const PricedGroup& group) {
  const uint32_t left = group.members & burst.forward;
  // Counts before the owner sees the packets, so that `out` never exceeds `in`.
  enter(bytes_of(burst, group, left), static_cast<unsigned>(std::popcount(left)));
  if (link_.traits.classes == 1) {
    push(burst, left, 0);
    return;
  }
  std::array<uint32_t, kMaxClasses> sets{};
  std::array<uint64_t, kMaxClasses> bytes{};
  uint32_t present = 0;
  for_each(left, [&](unsigned i) {
    const uint8_t c = group.classes[i];
    sets[c] |= uint32_t{1} << i;
    bytes[c] += burst.info[i].size;
    present |= uint32_t{1} << c;
  });
  for_each(present, [&](unsigned c) {
    shard_.class_in[c].add(bytes[c]);
    push(burst, sets[c], c);
    for_each(sets[c] & burst.dropped,
             [&](unsigned i) { shard_.class_out[c].add(burst.info[i].size); });
  });
}

// Puts a set of packets, which are counted already, into the ring.
void LinkQueue::push(Burst& burst, uint32_t set, unsigned queue_class) {
  Scratch<QueuedPacket> batch;
  std::array<uint8_t, kBurst> members;
  unsigned n = 0;
  const uint8_t protocol = link_.protocol;
  for_each(set, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    rewrite(burst.mbufs[i], p);
    batch.of[n] = {.mbuf = burst.mbufs[i],
                   .time = burst.since,
                   .size = p.size,
                   .congestion = p.protocol == protocol ? p.congestion : uint16_t{0},
                   .opens = p.has(kOpens),
                   .queue_class = static_cast<uint8_t>(queue_class)};
    members[n++] = static_cast<uint8_t>(i);
  });
  const unsigned taken = ring_->push({batch.of.data(), n}, queue_class);
  for (unsigned k = 0; k < taken; ++k) burst.leave(members[k]);
  for (unsigned k = taken; k < n; ++k) {
    shard_.leave(batch.of[k].size);
    burst.drop(members[k], DropReason::kQueueSlots);
  }
}

void LinkQueue::enqueue_to_port(Burst& burst, const PricedGroup& group) {
  const uint32_t left = group.members & burst.forward;
  const auto packets = static_cast<unsigned>(std::popcount(left));
  if (packets == 0) return;
  const uint64_t bytes = bytes_of(burst, group, left);
  enter(bytes, packets);
  shard_.waits.record(bytes, from_seconds(group.backlog / link_.capacity), packets);
  for_each_dense(left, [&](unsigned i) { rewrite(burst.mbufs[i], burst.info[i]); });
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
