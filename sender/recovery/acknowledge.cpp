// SPDX-License-Identifier: BSD-3-Clause
// The list of packets in flight is ordered by send time and answered packets leave it at once, so
// what lies before an answer's own packet is just what is missing.
#include "sender/recovery/acknowledge.h"

#include <algorithm>
#include <tuple>

#include "common/wire/serial.h"

namespace turnpike::sender {
namespace {

using wire::Kind;

/// Which kind of packet this kind of answer answers.
bool answers(Kind answer, Kind packet) {
  switch (answer) {
    case Kind::kSynAck:
      return packet == Kind::kSyn;
    case Kind::kFinAck:
      return packet == Kind::kFin;
    default:
      return packet == Kind::kData;
  }
}

bool is_own(const SentPacket& r, const AckInfo& answer) {
  return wire::to_ticks(r.sent) == answer.echo &&
         static_cast<uint32_t>(r.sequence) == answer.sequence && answers(answer.kind, r.kind);
}

/// Whether the answer's own packet, if in flight, lies behind the last answer's.
bool goes_on(const Flow& flow, RecordPool& pool, const AckInfo& answer) {
  return flow.after_answered != kNoRecord &&
         wire::serial_before(wire::to_ticks(pool[flow.after_answered].sent), answer.echo);
}

uint32_t find_own(RecordPool& pool, uint32_t first, const AckInfo& answer) {
  for (uint32_t i = first; i != kNoRecord; i = pool[i].next) {
    const SentPacket& r = pool[i];
    // Everything from here on was sent later.
    if (wire::serial_before(answer.echo, wire::to_ticks(r.sent))) break;
    if (is_own(r, answer)) return i;
  }
  return kNoRecord;
}

bool covered(const Flow& flow, const SentPacket& r, std::span<const wire::SeqRange> ranges) {
  if (r.kind != Kind::kData) return false;
  if (r.sequence < flow.acknowledged) return true;
  const auto sequence = static_cast<uint32_t>(r.sequence);
  for (const wire::SeqRange& range : ranges) {
    if (!wire::serial_before(sequence, range.begin) && wire::serial_before(sequence, range.end))
      return true;
  }
  return false;
}

void consume(Flow& flow, RecordPool& pool, uint32_t i, Acknowledged& done) {
  const SentPacket& r = pool[i];
  flow.leave_flight(pool, i);
  flow.in_flight_bytes -= r.size;
  if (r.kind == Kind::kData) {
    done.bytes += r.size;
    done.payload += r.payload;
    ++done.packets;
  }
  pool.give_back(i);
}

}  // namespace

Acknowledged acknowledge(Flow& flow, RecordPool& pool, Ledger& ledger, const AckInfo& answer,
                         FlowState& state, Nanos last_stall_end) {
  const Nanos now = state.now;
  Acknowledged done;
  // Answers come in the order of sending, mostly.
  const bool in_turn =
      flow.after_answered != kNoRecord && is_own(pool[flow.after_answered], answer);
  const uint32_t unseen =  // packets before it were missing at the last answer
      in_turn || goes_on(flow, pool, answer) ? flow.after_answered : flow.in_flight.head();
  const uint32_t own = in_turn ? unseen : find_own(pool, unseen, answer);
  if (own == kNoRecord) return done;
  done.matched = true;
  const SentPacket& packet = pool[own];
  done.own = packet.kind;
  if (answer.kind == Kind::kReset) {
    consume(flow, pool, own, done);
    done = {.matched = true, .own = done.own};
    return done;  // the one object, so that none is copied
  }

  // The send time is known exactly, so this sample has the clock's resolution, not the wire's.
  const Nanos sample = max(now - packet.sent, 1_ns);
  // A stall of the host only lengthens it.
  done.measured = packet.sent >= last_stall_end || flow.rtt.smoothed() == Nanos(0) ||
                  sample < flow.rtt.smoothed();
  if (done.measured) flow.rtt.sample(sample, now);
  if (std::tie(packet.sent, packet.sequence) >= std::tie(flow.newest_sent, flow.newest_sequence)) {
    flow.newest_rtt = sample;
    flow.newest_sent = packet.sent;
    flow.newest_sequence = packet.sequence;
  } else {
    flow.reordering_seen = true;
  }
  flow.rto_base = now;
  flow.backoff = 0;

  // A receiver cannot expect more than was sent.
  const uint64_t expected = wire::extend_serial(answer.acknowledgement, flow.acknowledged);
  const bool more = expected > flow.acknowledged && expected <= flow.next_sequence;
  if (more) flow.acknowledged = expected;

  state.answered_after = sample;
  state.out_of_order = packet.kind == Kind::kData && packet.sequence >= flow.acknowledged;
  state.rtt = flow.rtt.latest();
  state.smoothed_rtt = flow.rtt.smoothed();
  // Without SACK thousands may be missing for as many round trips. The last answer has covered
  // what it could of them, and this one, unless it acknowledges more, says nothing new of them.
  const bool news = flow.sack || more;
  for (uint32_t i = news ? flow.in_flight.head() : unseen; i != own;) {
    const uint32_t next = pool[i].next;
    if (covered(flow, pool[i], answer.ranges)) {
      ledger.record(flow, flow.law().on_ack_without_feedback(state, pool[i].note));
      state.headroom = ledger.headroom(flow);
      consume(flow, pool, i, done);
    }
    i = next;
  }
  if (packet.kind == Kind::kSyn) {
    const Opening opening = flow.law().on_syn_ack(state, packet.note, answer.congestion);
    flow.first_wait = opening.first_wait;
    flow.sack = opening.sack;
    flow.rtt.set_least_timeout(opening.least_timeout);
    ledger.record(flow, opening.allowance);
  } else {
    ledger.record(flow, flow.law().on_ack(state, packet.note, answer.congestion));
  }
  done.in_order = flow.in_flight.head() == own && flow.newest_sent == packet.sent &&
                  flow.newest_sequence == packet.sequence;
  if (state.out_of_order)
    flow.sacked = static_cast<uint8_t>(std::min<unsigned>(flow.sacked + 1U, kDuplicateThreshold));
  else if (done.in_order && flow.lost.empty())
    flow.sacked = 0;
  flow.after_answered = own;  // and the one behind it when it leaves
  consume(flow, pool, own, done);
  return done;
}

Acknowledged drop_covered(Flow& flow, RecordPool& pool) {
  Acknowledged done;
  while (!flow.lost.empty()) {
    const uint32_t i = flow.lost.head();
    const SentPacket& r = pool[i];
    if (r.kind != Kind::kData || r.sequence >= flow.acknowledged) break;
    done.bytes += r.size;
    done.payload += r.payload;
    ++done.packets;
    flow.lost.remove(pool, i);
    flow.lost_bytes -= r.size;
    pool.give_back(i);
  }
  return done;
}

}  // namespace turnpike::sender
