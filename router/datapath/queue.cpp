// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/queue.h"

#include "router/datapath/tx.h"

namespace turnpike::router {

namespace {

void to_owner(Burst& burst, const LinkGroup& group, Egress& egress) {
  std::array<Queued, kBurst> batch;
  std::array<uint8_t, kBurst> members;
  unsigned n = 0;
  const uint8_t law = egress.link->protocol;
  for_each(group.members & burst.forward, [&](unsigned i) {
    const PacketInfo& p = burst.info[i];
    rewrite(burst.mbufs[i], p);
    batch[n] = {.mbuf = burst.mbufs[i],
                .time = burst.since,
                .size = p.size,
                .congestion = p.protocol == law ? p.congestion : uint16_t{0},
                .opens = p.has(kOpens)};
    members[n++] = static_cast<uint8_t>(i);
  });
  // Counted before the owner can see them, so that it never takes out more than came in.
  uint64_t bytes = 0;
  for (unsigned k = 0; k < n; ++k) bytes += batch[k].size;
  egress.link->admit(*egress.shard, bytes, n);
  const unsigned taken = egress.hand_off->push({batch.data(), n});
  for (unsigned k = 0; k < taken; ++k) burst.leave(members[k]);
  for (unsigned k = taken; k < n; ++k) {
    egress.shard->leave(batch[k].size);
    burst.drop(members[k], DropReason::kQueueSlots);
  }
}

void to_port(Burst& burst, const LinkGroup& group, Egress& egress) {
  const uint32_t leaving = group.members & burst.forward;
  const auto packets = static_cast<unsigned>(std::popcount(leaving));
  if (packets == 0) return;
  uint64_t bytes = 0;
  for_each(leaving, [&](unsigned i) { bytes += burst.info[i].size; });
  egress.link->admit(*egress.shard, bytes, packets);
  egress.shard->waits.record(bytes, from_seconds(group.backlog / egress.link->capacity), packets);
  for_each(leaving, [&](unsigned i) {
    rewrite(burst.mbufs[i], burst.info[i]);
    egress.sender->append(burst.mbufs[i], burst.info[i].size, burst.now);
  });
  burst.forward &= ~leaving;
}

}  // namespace

void enqueue(Burst& burst, const LinkGroup& group, Lane& lane) {
  Egress& egress = lane.egress[group.link];
  if (egress.hand_off != nullptr) {
    to_owner(burst, group, egress);
  } else {
    to_port(burst, group, egress);
  }
}

void send_on(Burst& burst, Lane& lane) {
  // One pass per link that the burst goes to: usually one or two.
  for (uint32_t left = burst.forward; left != 0;) {
    LinkGroup group;
    group.link = burst.info[static_cast<unsigned>(std::countr_zero(left))].link;
    for_each(left,
             [&](unsigned i) { group.members |= uint32_t{burst.info[i].link == group.link} << i; });
    left &= ~group.members;
    price(burst, group, lane);
    enqueue(burst, group, lane);
  }
}

}  // namespace turnpike::router
