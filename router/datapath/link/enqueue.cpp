// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/link/enqueue.h"

#include <algorithm>

#include "router/datapath/egress/rewrite.h"

namespace turnpike::router {

namespace {

/// Hands the packets of one class over; all of them are counted as admitted already.
void hand_over(Burst& burst, Egress& egress, std::span<const QueuedPacket> batch,
               const uint8_t* members, unsigned queue_class) {
  const unsigned taken = egress.ring->push(batch, queue_class);
  for (unsigned k = 0; k < taken; ++k) burst.leave(members[k]);
  for (size_t k = taken; k < batch.size(); ++k) {
    egress.shard->leave(batch[k].size);
    burst.drop(members[k], DropReason::kQueueSlots);
  }
}

/// The same, each class by itself and counted.
void hand_over_by_class(Burst& burst, Egress& egress, std::span<const QueuedPacket> batch,
                        const uint8_t* members) {
  for (unsigned c = 0; c < egress.link->classes; ++c) {
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
    egress.shard->class_in[c].add(bytes);
    hand_over(burst, egress, {own.data(), n}, own_members.data(), c);
    for (unsigned k = 0; k < n; ++k) {
      if ((burst.dropped >> own_members[k] & 1) != 0) egress.shard->class_out[c].add(own[k].size);
    }
  }
}

/// On the link, of some of a group: of all unless the price stage dropped any.
uint64_t bytes_of(const Burst& burst, const LinkGroup& group, uint32_t members) {
  if (members == group.members) [[likely]]
    return group.bytes;
  uint64_t bytes = 0;
  for_each(members, [&](unsigned i) { bytes += burst.info[i].size; });
  return bytes;
}

void to_owner(Burst& burst, const LinkGroup& group, Egress& egress) {
  std::array<QueuedPacket, kBurst> batch;
  std::array<uint8_t, kBurst> members;
  unsigned n = 0;
  const uint8_t law = egress.link->protocol;
  const bool by_class = egress.link->classes > 1;
  const uint32_t leaving = group.members & burst.forward;
  for_each(leaving, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    rewrite(burst.mbufs[i], p);
    batch[n] = {.mbuf = burst.mbufs[i],
                .time = burst.since,
                .size = p.size,
                .congestion = p.protocol == law ? p.congestion : uint16_t{0},
                .opens = p.has(kOpens),
                .queue_class = by_class ? group.classes[i] : uint8_t{0}};
    members[n++] = static_cast<uint8_t>(i);
  });
  // Counted before the owner can see them, so that it never takes out more than came in.
  egress.link->admit(*egress.shard, bytes_of(burst, group, leaving), n);
  if (by_class) {
    hand_over_by_class(burst, egress, {batch.data(), n}, members.data());
  } else {
    hand_over(burst, egress, {batch.data(), n}, members.data(), 0);
  }
}

void to_port(Burst& burst, const LinkGroup& group, Egress& egress) {
  const uint32_t leaving = group.members & burst.forward;
  const auto packets = static_cast<unsigned>(std::popcount(leaving));
  if (packets == 0) return;
  const uint64_t bytes = bytes_of(burst, group, leaving);
  egress.link->admit(*egress.shard, bytes, packets);
  egress.shard->waits.record(bytes, from_seconds(group.backlog / egress.link->capacity), packets);
  for_each(leaving, [&](unsigned i) { rewrite(burst.mbufs[i], burst.info[i]); });
  // At once where it is worth a call, while the packets are in the nearest cache.
  if (packets == kBurst && egress.sender->empty()) {
    egress.sender->send(burst, bytes);
  } else {
    egress.sender->append(burst, leaving);
    if (egress.sender->waiting() >= kBurst) egress.sender->flush(burst.now);
  }
  burst.forward &= ~leaving;
}

/// Drops packets beyond the link's share of the packet pool.
void hold_to_share(Burst& burst, LinkGroup& group, WorkerContext& context) {
  const uint64_t held = context.egress[group.link].link->held(),
                 limit = context.buffers.limit(group.link);
  uint64_t room = limit - std::min(held, limit);
  for_each(group.members, [&](unsigned i) {
    if (room > 0) {
      --room;
      return;
    }
    burst.drop(i, DropReason::kBufferShare);
    group.members &= ~(uint32_t{1} << i);
  });
}

}  // namespace

void enqueue(Burst& burst, const LinkGroup& group, WorkerContext& context) {
  Egress& egress = context.egress[group.link];
  if (egress.ring != nullptr) {
    to_owner(burst, group, egress);
  } else {
    to_port(burst, group, egress);
  }
}

void egress(Burst& burst, WorkerContext& context) {
  // One pass per link that the burst goes to: usually one or two.
  for (uint32_t left = burst.forward; left != 0;) {
    LinkGroup group;
    group.link = burst.info[static_cast<unsigned>(std::countr_zero(left))].link;
    for_each(left,
             [&](unsigned i) { group.members |= uint32_t{burst.info[i].link == group.link} << i; });
    left &= ~group.members;
    if (context.scarce) [[unlikely]]
      hold_to_share(burst, group, context);
    price(burst, group, context);
    enqueue(burst, group, context);
  }
}

}  // namespace turnpike::router
