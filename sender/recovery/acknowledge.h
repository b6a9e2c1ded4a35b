// SPDX-License-Identifier: BSD-3-Clause
// Applies acknowledgements to a flow's packets in flight.
#pragma once

#include <cstdint>
#include <span>

#include "sender/connection/flow.h"
#include "sender/pacing/ledger.h"

namespace turnpike::sender {

/// An ACK, SYN-ACK, FIN-ACK or RESET as it came in, ranges decoded; `congestion` is as long as the
/// flow's protocol says.
struct AckInfo {
  wire::Kind kind = wire::Kind::kAck;
  uint32_t sequence = 0, acknowledgement = 0, echo = 0, token = 0;
  std::span<const wire::SeqRange> ranges{};
  const uint8_t* congestion = nullptr;
};

struct Acknowledged {
  bool matched = false;  // it answers a packet in flight
  uint64_t bytes = 0;    // IP datagrams delivered, data only
  uint64_t payload = 0;  // of that, the user's
  uint32_t packets = 0;
  bool measured = false;  // and its round trip was the network's
  bool in_order = false;  // nothing sent before it is missing, nothing after it has come
  wire::Kind own = wire::Kind::kData;  // what kind of packet it answers
};

/// Applies an answer to the flow and its law; `ledger` records the law's decisions. It counts only
/// if it names a packet in flight by sequence and by send time: a replayed, late or forged one has
/// no match and changes nothing. A RESET is matched and consumes its packet, no more. A packet sent
/// before `last_stall_end`, the end of the host's last stall, gives no sample of the round trip: it
/// was the host that kept it waiting. `state` is the flow's of now; its round trip is brought up to
/// date.
Acknowledged acknowledge(Flow& flow, RecordPool& pool, Ledger& ledger, const AckInfo& answer,
                         FlowState& state, Nanos last_stall_end);

/// Forgets lost packets that a cumulative acknowledgement has covered since; returns their sums.
Acknowledged drop_covered(Flow& flow, RecordPool& pool);

}  // namespace turnpike::sender
