// SPDX-License-Identifier: BSD-3-Clause
// RACK over the list in order of sending: the walk ends at the first packet that may still come.
#include "sender/recovery/loss.h"

#include <algorithm>

namespace turnpike::sender {
namespace {

// RFC 8985 section 6.2 step 4.
Nanos reordering_window(const Flow& flow) {
  return !flow.reordering_seen && flow.sacked == kDuplicateThreshold ? 0_ns : flow.rtt.reordering();
}

void lose(Flow& flow, RecordPool& pool, Ledger& ledger, uint32_t i, Nanos now) {
  const FlowState state = flow.state(now, ledger.headroom(flow));
  const SentPacket& r = pool[i];
  flow.leave_flight(pool, i);
  flow.in_flight_bytes -= r.size;
  ledger.record(flow, flow.law().on_loss(state, r.note));
  if (flow.carries && r.kind == wire::Kind::kData) return pool.give_back(i);
  flow.lost.push_back(pool, i);
  flow.lost_bytes += r.size;
}

}  // namespace

Losses detect_losses_behind(Flow& flow, RecordPool& pool, Ledger& ledger, Nanos now) {
  Losses losses;
  while (!flow.in_flight.empty()) {
    const uint32_t head = flow.in_flight.head();
    const SentPacket& r = pool[head];
    if (!overtaken(flow, r)) break;
    // Without SACK only the first missing packet is known to be so (RFC 6582 section 3.2 step 3).
    if (!flow.sack && r.kind == wire::Kind::kData && r.sequence != flow.acknowledged) break;
    const Nanos given_up = r.sent + flow.newest_rtt + reordering_window(flow);
    if (given_up > now) {
      losses.next = given_up;
      break;
    }
    lose(flow, pool, ledger, head, now);
    ++losses.count;
  }
  return losses;
}

uint32_t time_out(Flow& flow, RecordPool& pool, Ledger& ledger, Nanos now) {
  const Nanos away = max(flow.rtt.smoothed(), flow.newest_rtt) + flow.rtt.reordering();
  uint32_t count = 0;
  ledger.record(flow, flow.law().on_timeout(flow.state(now, ledger.headroom(flow))));
  while (!flow.in_flight.empty()) {
    const uint32_t head = flow.in_flight.head();
    if (count > 0 && pool[head].sent + away > now) break;
    lose(flow, pool, ledger, head, now);
    ++count;
  }
  flow.backoff = static_cast<uint8_t>(std::min(flow.backoff + 1, 255));
  flow.rto_base = now;
  return count;
}

}  // namespace turnpike::sender
