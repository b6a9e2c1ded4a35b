// SPDX-License-Identifier: BSD-3-Clause
// A flow at its sender: transport state, timers, and its law in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include <rte_prefetch.h>

#include "common/config/topology.h"
#include "common/protocols/flow_law.h"
#include "common/protocols/registry.h"
#include "common/time/timer_wheel.h"
#include "common/units/units.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"
#include "sender/pacing/pacer.h"
#include "sender/recovery/in_flight.h"
#include "sender/recovery/round_trip.h"
#include "sender/strategy/member.h"
#include "sender/transmission/datagram_source.h"

namespace turnpike::sender {

inline constexpr uint64_t kEndlessPackets = UINT64_MAX;

/// Converts counts below 2^63, for which processors have an instruction.
constexpr double as_double(uint64_t n) { return static_cast<double>(static_cast<int64_t>(n)); }

/// Properties that all flows of one entry of the topology's traffic share.
struct FlowClass {
  const Protocol* protocol = nullptr;
  ParamValues params;
  unsigned ip_version = 4;
  unsigned dscp = 0;
  Terms terms;
  uint32_t packet = 1500;      // B of a full IP datagram
  uint32_t headers = 0;        // B of that which are not payload
  bool count_packets = false;  // sizes count IP datagrams, not their payload
  bool metered = false;        // its packets cost money, which must not exceed the host's budget
  double limit = std::numeric_limits<double>::infinity();  // B/s that the application can send
  [[nodiscard]] uint32_t payload() const { return packet - headers; }
};

enum class Stage : uint8_t {
  kFree,
  kOpening,  // SYN sent
  kOpen,     // data goes
  kClosing,  // FIN sent; retransmissions still go
};

/// So many packets that arrive after a missing one show that it is lost, on a path that has not
/// reordered any (DupThresh of RFC 8985 section 6.2 step 4).
inline constexpr uint8_t kDuplicateThreshold = 3;

/// A packet and its ACK touch the first kHotLines cache lines and no more: timer, transport, round
/// trip, the law's decision, law. Behind them lies what only the ends of a flow need, and
/// strategies that watch it.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): who needs what decides the order
struct alignas(64) Flow {
  static constexpr size_t kLine = 64, kHotLines = 7;

  Timer timer;                // of whichever comes first: send_at, recover_at, the time-out
  Nanos send_at = kNever;     // nothing to send, or no room for it in the window: kNever
  Nanos recover_at = kNever;  // a packet may count as lost, or a SYN can be tried again
  Pacer pacer;

  uint32_t id = 0;    // on the wire: index and generation
  uint32_t host = 0;  // who sends, an index into Topology::hosts
  const FlowClass* kind = nullptr;
  uint16_t last_size = 0;  // B of the last packet's IP datagram
  uint16_t path = 0;       // index into the host's paths
  uint32_t delivered_packets = 0;
  uint64_t next_sequence = 0;  // of the next new packet
  uint64_t packets = 0;        // how many there will be, kEndlessPackets
  RecordList in_flight;        // in order of sending
  RecordList lost;             // to be sent again
  uint64_t in_flight_bytes = 0;

  uint64_t acknowledged = 0;    // the receiver expects this one next
  uint32_t source = 0;          // entry of the topology's traffic
  uint32_t token = 0;           // that the receiver gave it
  uint16_t target_version = 0;  // of the strategy when the law was last given its target
  Stage stage = Stage::kFree;
  uint8_t backoff : 4 = 0;           // time-outs in a row
  bool wants_budget : 1 = false;     // the strategy counts it
  bool cut_short : 1 = false;        // stopped before all that was asked for was sent
  bool reported : 1 = false;         // its outcome is recorded
  bool blocked : 1 = false;          // it has something to send, but its window is full
  bool underpaid : 1 = false;        // no budget pays for all of its pace, which the floor asks for
  bool carries : 1 = false;          // datagrams of `datagrams`
  bool sack : 1 = true;              // Opening::sack
  bool reordering_seen : 1 = false;  // RFC 8985 section 6.2 step 3
  uint8_t sacked : 2 = 0;  // packets delivered beyond a missing one, up to kDuplicateThreshold
  float price = 0;         // $/B that the pacer's gap is counted in, 0: none
  RoundTrip rtt;
  Nanos newest_sent{0};          // send time and sequence of the youngest packet known delivered
  uint64_t newest_sequence = 0;  // (RFC 8985 section 6.2 step 2)
  Nanos newest_rtt{0};           // and how long it took
  Nanos rto_base{0};             // the retransmission time-out counts from here
  uint64_t delivered = 0;        // B of payload
  uint16_t port = 0;             // UDP source port
  // In flight, sent right after the packet that was answered last: the next answer's, mostly.
  uint32_t after_answered = kNoRecord;
  Allowance allowance;  // the law's newest, its committed part as the host's ledger has it

  alignas(kLine) std::byte law_storage[FlowLaw::kMaxBytes];

  Member member;
  uint64_t lost_bytes = 0;  // of those to be sent again
  Nanos asked{0};           // when the traffic asked for it
  Nanos first_wait{0};      // of the first data packet after the handshake
  uint32_t to = 0;          // destination, see Topology::destination_of()
  uint32_t retransmissions = 0;
  uint32_t instance = 0;
  DatagramSource* datagrams = nullptr;  // what it sends, if it carries datagrams

  /// Of an open flow. The protocol's own law begins with it.
  [[nodiscard]] FlowLaw& law() { return *std::launder(reinterpret_cast<FlowLaw*>(law_storage)); }
  [[nodiscard]] const FlowLaw& law() const {
    return *std::launder(reinterpret_cast<const FlowLaw*>(law_storage));
  }

  /// Prefetches the first line, for its page walk: with many flows few loads overtake one. Call a
  /// few packets before prefetch(), which finds the walk done.
  void touch() const { rte_prefetch0(this); }
  /// Prefetches the lines that a packet or an ACK touches.
  void prefetch() const {
    const auto* line = reinterpret_cast<const std::byte*>(this);
    for (size_t i = 0; i < kHotLines; ++i) rte_prefetch0(line + i * kLine);
  }

  /// Removes a packet from those in flight.
  void leave_flight(RecordPool& pool, uint32_t i) {
    if (i == after_answered) after_answered = pool[i].next;
    in_flight.remove(pool, i);
  }

  /// Whether new data remains.
  [[nodiscard]] bool has_new() const {
    return next_sequence < packets && (!carries || datagrams->waiting() > 0);
  }
  /// Whether all of its data has been sent: next comes its FIN.
  [[nodiscard]] bool at_end() const { return next_sequence >= packets; }
  [[nodiscard]] uint32_t size_of(uint64_t sequence) const {
    return sequence + 1 == packets ? last_size : kind->packet;
  }

  /// B still to be sent, in IP datagrams, lost ones included; infinity if endless.
  [[nodiscard]] double unsent() const {
    if (packets == kEndlessPackets) return std::numeric_limits<double>::infinity();
    const uint64_t left = packets - next_sequence;
    const double fresh = left == 0 ? 0 : as_double(left - 1) * kind->packet + last_size;
    return lost.empty() ? fresh : fresh + as_double(lost_bytes);
  }

  /// The state that the law reads; `headroom` is the budget that the host may still promise, $/s,
  /// `line` the rate of its port, B/s.
  [[nodiscard]] FlowState state(Nanos now, double headroom,
                                double line = std::numeric_limits<double>::infinity()) const {
    return {.now = now,
            .rtt = rtt.latest(),
            .smoothed_rtt = rtt.smoothed(),
            .packet_size = kind->packet,
            .in_flight = as_double(in_flight_bytes),
            .unsent = unsent(),
            .limit = limit(),
            .line = line,
            .headroom = headroom};
  }
  /// The same after packets were sent or their fate became known.
  void update(FlowState& s, double headroom) const {
    s.in_flight = as_double(in_flight_bytes);
    s.unsent = unsent();
    s.headroom = headroom;
  }

  /// The present retransmission time-out. That of a SYN is up to a quarter longer, by flow: flows
  /// that start together, so that a queue drops most of their SYNs, would otherwise try again
  /// together, too. Ids are scattered (FlowIdCode). TCP's stays that of RFC 6298.
  [[nodiscard]] Nanos timeout() const {
    const Nanos t = rtt.timeout(backoff);
    const bool spread = stage == Stage::kOpening && !kind->protocol->end_to_end;
    return spread ? t + t / 4096 * (id >> 22) : t;
  }
  /// When it comes; kNever with nothing in flight.
  [[nodiscard]] Nanos timeout_at() const {
    return in_flight.empty() ? kNever : rto_base + timeout();
  }

  /// B/s that the application can send.
  [[nodiscard]] double limit() const { return carries ? datagrams->demand() : kind->limit; }

  /// Whether it sent nothing although it was allowed to. To wait for the ACKs of a full window is
  /// no pause.
  [[nodiscard]] bool paused(Nanos now) const {
    return send_at == kNever && !blocked && pacer.due() < now;
  }

  /// Whether it has something to send: an open flow has data or its FIN, one that carries datagrams
  /// may wait for some.
  [[nodiscard]] bool sendable() const {
    return !lost.empty() || (stage == Stage::kOpen && (!carries || has_new() || at_end()));
  }
};
static_assert(sizeof(Timer) + 2 * sizeof(Nanos) + sizeof(Pacer) == Flow::kLine,
              "what a timer that fires needs first is the first line");

}  // namespace turnpike::sender
