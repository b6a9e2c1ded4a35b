// SPDX-License-Identifier: BSD-3-Clause
// Each new flow checks a few entries of the table and frees idle flows there, so that no timer is
// needed.
#include "sender/receiver/receiver.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/wire/serial.h"

namespace turnpike::sender {
namespace {

using wire::Kind;

constexpr size_t kSweep = 4;          // entries that a new flow checks
constexpr size_t kUrgentSweep = 256;  // likewise, when the table is full
constexpr uint64_t kIndexKey = 1;     // purpose of the index's key
constexpr size_t kGuesses = 8;        // entries of guesses_ per flow, so that few flows share one

/// Compares all bytes.
bool same(const FlowKey& a, const FlowKey& b) {
  const auto x = a.words(), y = b.words();
  return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2])) == 0;
}

}  // namespace

Receiver::Receiver(uint32_t capacity, size_t runs, HostTotals& totals, bool populated,
                   const SecretKey& secret)
    : totals_(totals),
      states_(std::max(capacity, 1U), populated),
      index_(static_cast<uint32_t>(states_.capacity()), derive(secret, kIndexKey)),
      guesses_(kGuesses * std::bit_ceil(capacity)),
      guess_shift_(64 - std::countr_zero(guesses_.size())),
      ranges_(runs, populated),
      datagrams_(runs == 0),
      secret_(secret) {
  states_.grow();  // that all guesses begin with
}

Receiver::~Receiver() {
  for (size_t i = 0; i < states_.size(); ++i) clear(states_[i]);
}

uint32_t& Receiver::guess(const FlowKey& key) {
  const auto words = key.words();
  // Fibonacci hashing (Knuth, volume 3, section 6.4): the high bits depend on all of the sum's.
  const uint64_t mixed =
      (words[0] + std::rotl(words[1], 21) + std::rotl(words[2], 42)) * uint64_t{0x9e3779b97f4a7c15};
  return guesses_[mixed >> guess_shift_];
}

Receiver::State* Receiver::find(const FlowKey& key) {
  uint32_t& at = guess(key);
  if (states_[at].used && same(states_[at].key, key)) return &states_[at];
  const uint32_t found =
      index_.find(key.words(), [&](uint32_t i) { return same(states_[i].key, key); });
  if (found == FlowIndex::kNone) return nullptr;
  at = found;
  return &states_[at];
}

Receiver::State* Receiver::open(const FlowKey& key, Nanos now) {
  sweep(now, kSweep, false);
  if (flows_ >= states_.capacity()) sweep(now, kUrgentSweep, true);
  const uint32_t i = index_.add(key.words());
  if (i == FlowIndex::kNone) return nullptr;
  if (i == states_.size()) states_.grow();
  State& s = states_[i];
  s.key = key;
  s.used = true;
  ++flows_;
  return &s;
}

// Hash of the flow's key, its protocol and the number of periods of kTokenLife since time 0.
uint32_t Receiver::token_of(const FlowKey& key, const Request& request, Nanos now) const {
  const auto words = key.words();
  const auto span = static_cast<uint64_t>(now / kTokenLife);
  const SecretKey& secret = request.key != nullptr ? *request.key : secret_;
  return static_cast<uint32_t>(
      siphash(secret, std::array{words[0], words[1], words[2], span << 8 | request.protocol.id}));
}

bool Receiver::issued(const FlowKey& key, const Request& request, Nanos now) const {
  const uint32_t token = request.header.token;
  return token == token_of(key, request, now) ||
         (now >= kTokenLife && token == token_of(key, request, now - kTokenLife));
}

tl::expected<Receiver::State*, Receiver::Absence> Receiver::flow_of(const FlowKey& key,
                                                                    const Request& request,
                                                                    Nanos now) {
  State* s = find(key);
  const uint32_t token = request.header.token;
  const bool known = s != nullptr && s->token == token;
  if (known && request.check == nullptr) [[likely]]
    return s;
  const bool data = request.header.kind == Kind::kData;
  if (!known && (!data || !issued(key, request, now)))
    return tl::unexpected(s != nullptr ? Absence::kForged : Absence::kUnknown);
  if (request.check != nullptr && data) {
    if (request.empty && !known) return tl::unexpected(Absence::kUnknown);
    const uint64_t newest = known ? s->window.highest() : 0;
    if (!request.empty &&
        !request.check->authentic(wire::extend_serial(request.header.sequence, newest)))
      return tl::unexpected(Absence::kNotAuthentic);
  }
  if (known) return s;
  if (s != nullptr) {
    clear(*s);  // the same key with a new token: a restarted sender
  } else {
    s = open(key, now);
    if (s == nullptr) return tl::unexpected(Absence::kNoRoom);
  }
  s->token = token;
  s->opened = now;
  s->checked = request.check != nullptr;
  begin(*s, request.protocol);
  return s;
}

std::optional<Reply> Receiver::without_flow(const Request& request, Absence why) {
  const wire::Header& header = request.header;
  switch (why) {
    case Absence::kForged:
      totals_.forged_packets.add();
      return std::nullopt;
    case Absence::kNoRoom:
      totals_.refused_packets.add();
      return std::nullopt;
    case Absence::kNotAuthentic:
      return std::nullopt;
    case Absence::kUnknown:
      break;
  }
  // The flow was dropped after an earlier copy of this FIN, whose reply was lost. Its state is
  // gone: return the acknowledgement number that the sender knows.
  if (header.kind == Kind::kFin)
    return Reply{
        .kind = Kind::kFinAck, .acknowledgement = header.acknowledgement, .token = header.token};
  totals_.unknown_flows.add();
  if (request.empty) return std::nullopt;
  return Reply{.kind = Kind::kReset, .token = header.token};
}

void Receiver::begin(State& s, const Protocol& protocol) {
  s.protocol = &protocol;
  if (protocol.make_receiver_law != nullptr) s.law = protocol.make_receiver_law(s.law_storage);
}

void Receiver::clear(State& s) {
  s.received.clear(ranges_);
  s.window = {};
  s.packets = UINT64_MAX;
  if (s.law != nullptr) s.law->~ReceiverLaw();
  s.law = nullptr;
}

void Receiver::forget(State& s) {
  clear(s);
  index_.erase(s.key.words(), static_cast<uint32_t>(&s - &states_[0]));
  s = State{};
  --flows_;
}

void Receiver::sweep(Nanos now, size_t steps, bool urgent) {
  for (size_t n = 0; n < std::min(steps, states_.capacity()); ++n) {
    hand_ = hand_ + 1 == states_.capacity() ? 0 : hand_ + 1;
    if (hand_ >= states_.size()) continue;
    State& s = states_[hand_];
    if (!s.used) continue;
    // A copy of its packets could open it again, with an empty window.
    if (s.checked && now - s.opened < kTokenLife + kTokenLife) continue;
    // A tunnel that has lost its state here opens anew within a round trip: when room is needed,
    // one that pauses makes it, such as those of a gateway that has ended and was started again.
    const Nanos open = urgent && datagrams_ ? kLinger : kIdle;
    const Nanos timeout = !s.finished() ? open : urgent ? 0_ns : kLinger;
    if (now - s.last_packet >= timeout) forget(s);
  }
}

std::optional<Reply> Receiver::receive(const FlowKey& key, const Request& request, Nanos now) {
  const wire::Header& header = request.header;
  if (header.kind == Kind::kSyn)
    return Reply{.kind = Kind::kSynAck, .token = token_of(key, request, now)};
  const auto found = flow_of(key, request, now);
  if (!found) return without_flow(request, found.error());
  State& s = **found;
  if (header.kind == Kind::kData && request.empty) {
    if (s.law == nullptr || s.protocol != &request.protocol) {
      totals_.refused_packets.add();
    } else {
      s.law->on_probe(request.congestion, now);
    }
    return std::nullopt;
  }
  s.last_packet = now;
  if (datagrams_) return datagram(s, request, now);
  if (header.kind == Kind::kFin) {
    const uint64_t packets = wire::extend_serial(header.sequence, s.received.expected());
    if (packets >= s.received.expected() && packets < uint64_t{1} << 63) s.packets = packets;
    return Reply{.kind = Kind::kFinAck,
                 .acknowledgement = static_cast<uint32_t>(s.received.expected()),
                 .token = header.token};
  }
  return data(s, request, now);
}

// The packets of a flow that carries datagrams come once or never. Its FIN ends it at once. The
// acknowledgement number stays 0: gaps are never filled, so no number covers all packets before it.
// A second copy has no reply: its sender sends none, and replays would fill the path back.
std::optional<Reply> Receiver::datagram(State& s, const Request& request, Nanos now) {
  const wire::Header& header = request.header;
  if (header.kind == Kind::kFin) {
    s.packets = 0;
    return Reply{.kind = Kind::kFinAck, .token = header.token};
  }
  Reply reply{.token = header.token};
  const uint64_t sequence = wire::extend_serial(header.sequence, s.window.highest());
  if (sequence >= uint64_t{1} << 63 || s.window.too_old(sequence)) {
    totals_.refused_packets.add();
    return std::nullopt;
  }
  if (!s.window.add(sequence)) {
    totals_.duplicate_packets.add();
    return std::nullopt;
  }
  reply.fresh = true;
  totals_.received_packets.add();
  totals_.received_bytes.add(request.size);
  if (s.law != nullptr && s.protocol == &request.protocol)
    s.law->on_data(request.size, request.congestion, now);
  // One range stands in for lost ACKs: the packets up to this one that have all arrived.
  reply.ranges = 1;
  reply.range[0] = {static_cast<uint32_t>(s.window.run_before(sequence)),
                    static_cast<uint32_t>(sequence + 1)};
  return reply;
}

std::optional<Reply> Receiver::data(State& s, const Request& request, Nanos now) {
  Reply reply{.token = request.header.token};
  uint32_t run = kNoRange;
  const uint64_t sequence = wire::extend_serial(request.header.sequence, s.received.expected());
  // A sequence from before the flow's beginning wraps to the far end of 64 bits.
  const auto result = sequence < uint64_t{1} << 63 ? s.received.add(ranges_, sequence, run)
                                                   : Received::AddResult::kRefused;
  switch (result) {
    case Received::AddResult::kNew:
      reply.fresh = true;
      totals_.received_packets.add();
      totals_.received_bytes.add(request.size);
      break;
    case Received::AddResult::kDuplicate:
      totals_.duplicate_packets.add();
      break;
    case Received::AddResult::kRefused:
      totals_.refused_packets.add();
      return std::nullopt;
  }
  // The flow's law cannot read another protocol's header.
  if (s.law != nullptr && s.protocol == &request.protocol)
    s.law->on_data(request.size, request.congestion, now);
  reply.acknowledgement = static_cast<uint32_t>(s.received.expected());
  // Ranges replace lost ACKs. Send those nearest below this packet: the sender is about to declare
  // the packets just before it lost.
  if (run == kNoRange) run = s.received.first_run();
  for (; run != kNoRange && reply.ranges < wire::kMaxRanges; run = ranges_[run].previous) {
    reply.range[reply.ranges++] = {static_cast<uint32_t>(ranges_[run].begin),
                                   static_cast<uint32_t>(ranges_[run].end)};
  }
  return reply;
}

}  // namespace turnpike::sender
