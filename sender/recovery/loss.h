// SPDX-License-Identifier: BSD-3-Clause
// Which packets in flight are lost: overtaken for too long (RACK, RFC 8985), or timed out.
#pragma once

#include "sender/connection/flow.h"
#include "sender/pacing/ledger.h"

namespace turnpike::sender {

struct Losses {
  uint32_t count = 0;
  Nanos next = kNever;  // when a packet that has been overtaken will count as lost
};

/// Whether a packet in flight was sent before one that is known delivered.
inline bool overtaken(const Flow& flow, const SentPacket& r) {
  return r.sent < flow.newest_sent ||
         (r.sent == flow.newest_sent && r.sequence < flow.newest_sequence);
}

/// Moves every packet that has been overtaken, and has been missing for a round trip and the
/// reordering window since, to the flow's lost list; `ledger` records the law's decisions. Lost
/// datagrams of a flow that carries some are forgotten. Of a flow without SACK only the first
/// missing packet is found, so one per round trip.
Losses detect_losses_behind(Flow& flow, RecordPool& pool, Ledger& ledger, Nanos now);
inline Losses detect_losses(Flow& flow, RecordPool& pool, Ledger& ledger, Nanos now) {
  // Mostly the oldest packet in flight is younger than any that has arrived.
  if (flow.in_flight.empty() || !overtaken(flow, pool[flow.in_flight.head()])) return {};
  return detect_losses_behind(flow, pool, ledger, now);
}

/// Nothing has been heard for the retransmission time-out: the oldest packet is lost, and every
/// other one that has been away for a round trip and the window (RFC 8985 section 6.3).
/// Returns how many.
uint32_t time_out(Flow& flow, RecordPool& pool, Ledger& ledger, Nanos now);

}  // namespace turnpike::sender
