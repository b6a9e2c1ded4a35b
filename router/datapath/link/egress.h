// SPDX-License-Identifier: BSD-3-Clause
// An egress link as one worker sees it.
#pragma once

#include <algorithm>

#include "router/datapath/egress/port_tx.h"
#include "router/datapath/link/egress_link.h"

namespace turnpike::router {

struct Egress {
  EgressLink* link = nullptr;
  LinkShard* shard = nullptr;  // this worker's
  PortTx* sender = nullptr;    // this worker's queue pair; null: it has none at this port
  LinkRing* ring = nullptr;    // to the link's owner; null: straight to the sender
  Nanos missed{0};             // in which this worker did not run, and the law's time stood still
  Nanos owed{0};               // the last part of it, which packets that came then may fill

  /// Time as the link's law counts it on this worker. A worker that does not run sees no packets,
  /// which a law must not take for silence.
  [[nodiscard]] Nanos law_time(Nanos now) const { return now - missed; }

  /// This worker did not run for so long.
  void stall(Nanos time) {
    if (!link->knows_stalls) missed += time;
    owed += time;
  }
  /// Packets that have waited meanwhile take the time that the link takes for them, and none when
  /// the link would have been idle.
  void make_up(uint64_t bytes) {
    const Nanos took = std::min(owed, from_seconds(static_cast<double>(bytes) / link->capacity));
    owed -= took;
    if (!link->knows_stalls) missed -= took;
  }
  /// B that the link would have carried in the time owed.
  [[nodiscard]] double not_carried() const { return to_seconds(owed) * link->capacity; }

  /// Bytes that wait before the link now. At line rate that is what the port has not taken or
  /// what the link cannot have carried yet, whichever is more: both count the same packets.
  [[nodiscard]] double backlog(Nanos now) const {
    const auto queued = static_cast<double>(link->queued());
    if (link->drain == config::Drain::kShaped) return queued;
    return std::max(queued, link->virtual_queue(*shard, now));
  }
};

}  // namespace turnpike::router
