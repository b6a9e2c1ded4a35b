// SPDX-License-Identifier: BSD-3-Clause
// Fourth stage: what the egress link's law makes of the packets bound for it.
#pragma once

#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Packets of a burst that go to one link, in order.
struct LinkGroup {
  unsigned link = 0;
  uint32_t members = 0;                 // as a set
  uint64_t bytes = 0;                   // of all of them on the link
  double backlog = 0;                   // B that waited before the link when they came
  std::array<uint8_t, kBurst> classes;  // by place in the burst, where the link has several
};

/// Admits the group to the link's queue as far as its buffer has room, runs the law over it once,
/// and mends the UDP checksums over what the law rewrote. Drops what was not admitted and what
/// the law does not believe; the rest stay in the burst's `forward` set.
void price(Burst& burst, LinkGroup& group, WorkerContext& context);

/// Runs the law's departure hook on packets that leave the link's queue now.
void price_departure(const Egress& egress, unsigned worker, std::span<const QueuedPacket> packets,
                     Nanos now);

/// What a law may know of its link while `queue` bytes wait.
LinkState state_of(const EgressLink& link, double queue);

}  // namespace turnpike::router
