// SPDX-License-Identifier: BSD-3-Clause
// Which packets in flight are lost: overtaken for too long (RACK, RFC 8985), or timed out.
#pragma once

#include "sender/flow.h"

namespace turnpike::sender {

struct Losses {
  uint32_t count = 0;
  Nanos next = kNever;  // when a packet that has been overtaken will count as lost
};

/// Moves every packet that was sent before one that is known delivered, and has been missing for a
/// round trip and the reordering window since, to the flow's lost list; the law is told.
Losses detect_losses(Flow& flow, RecordPool& pool, double headroom, Nanos now);

/// Nothing has been heard for the retransmission time-out: the oldest packet is lost, and every
/// other one that has been away for a round trip and the window (RFC 8985 section 6.3).
/// Returns how many.
uint32_t time_out(Flow& flow, RecordPool& pool, double headroom, Nanos now);

/// When that time-out comes; kNever with nothing in flight.
Nanos timeout_at(const Flow& flow);

}  // namespace turnpike::sender
