// SPDX-License-Identifier: BSD-3-Clause
// A host as a sink: keeps the state of each received flow, and decides the reply to each packet.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "common/dpdk/large_array.h"
#include "common/protocols/registry.h"
#include "common/units/units.h"
#include "common/wire/turnpike_header.h"
#include "sender/connection/siphash.h"
#include "sender/observed.h"
#include "sender/receiver/flow_index.h"
#include "sender/receiver/received.h"
#include "sender/receiver/replay_window.h"

namespace turnpike::sender {

/// Identifies a flow at its receiver. Comparisons and hashes cover all bytes.
struct FlowKey {
  std::array<uint8_t, 16> source{};  // an IPv4 address in the first four
  uint32_t flow = 0;
  uint16_t port = 0;
  uint16_t ip_version = 0;

  [[nodiscard]] std::array<uint64_t, 3> words() const {
    return std::bit_cast<std::array<uint64_t, 3>>(*this);
  }
};
static_assert(sizeof(FlowKey) == 24, "no padding: keys are hashed as bytes");

/// Authenticates the payload of a DATA packet.
class PayloadCheck {
 public:
  /// `sequence`: the packet's, of which its header has the low half. Called at most once.
  virtual bool authentic(uint64_t sequence) = 0;

 protected:
  ~PayloadCheck() = default;
};

/// A received SYN, DATA or FIN.
struct Request {
  const wire::Header& header;
  const Protocol& protocol;
  uint32_t size = 0;               // B of the IP datagram
  uint8_t* congestion = nullptr;   // Protocol::header_size B; a law may rewrite them
  bool empty = false;              // no payload after the headers
  const SecretKey* key = nullptr;  // of tokens; null: the receiver's own
  PayloadCheck* check = nullptr;   // of DATA: no other payload counts; null: all payload does
};

/// Fields of the reply to one packet.
struct Reply {
  wire::Kind kind = wire::Kind::kAck;
  uint32_t acknowledgement = 0;
  uint32_t token = 0;
  uint8_t ranges = 0;
  std::array<wire::SeqRange, wire::kMaxRanges> range{};
  bool fresh = false;  // to DATA that had not been received before
};

/// A SYN creates no state: the SYN-ACK carries a token that only this receiver can compute (a SYN
/// cookie, RFC 4987 section 3.6), and the first DATA packet that returns the token opens the flow.
/// So half-open flows cost no memory, and an off-path attacker can neither add to a flow nor end
/// it. Allocates no memory after construction.
class Receiver {
 public:
  /// Time for which the state of a flow is kept after its end, to recognise late copies of packets.
  static constexpr Nanos kLinger = 2_s;
  /// Time without packets after which the state of an open flow is dropped.
  static constexpr Nanos kIdle = 60_s;
  /// A token can open a flow for at least this long after the SYN, and for at most twice as long.
  static constexpr Nanos kTokenLife{int64_t{1} << 35};

  /// `capacity`: flows at a time. `runs`: gaps in all flows together; 0: of flows that carry
  /// datagrams, whose gaps stay open. `populated`: touches the gaps' memory now. `secret`: key of
  /// tokens. Throws std::bad_alloc.
  Receiver(uint32_t capacity, size_t runs, HostTotals& totals, bool populated = true,
           const SecretKey& secret = {});
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Handles a request. Returns the reply, whose congestion header is that of the request as the
  /// law left it; nothing: send no reply. DATA without payload is a probe: only the flow's law
  /// reads it. With a check, only DATA that passes it opens a flow or is recorded, and no packet of
  /// a flow passes twice: its state is kept until its token cannot open it again.
  std::optional<Reply> receive(const FlowKey& key, const Request& request, Nanos now);

  [[nodiscard]] uint32_t flows() const { return flows_; }

 private:
  struct State {
    FlowKey key;
    uint32_t token = 0;
    Received received;
    ReplayWindow window;  // of a flow that carries datagrams, instead of `received`
    Nanos last_packet{0};
    uint64_t packets = UINT64_MAX;  // of the whole flow; known once its FIN has arrived
    const Protocol* protocol = nullptr;
    ReceiverLaw* law = nullptr;  // in law_storage; null: the protocol has none
    bool used = false;
    bool checked = false;  // the packet that opened it was
    Nanos opened{0};
    [[nodiscard]] bool finished() const { return received.expected() >= packets; }
    alignas(8) std::byte law_storage[ReceiverLaw::kMaxBytes];
  };

  State* find(const FlowKey& key);
  [[nodiscard]] uint32_t& guess(const FlowKey& key);
  State* open(const FlowKey& key, Nanos now);
  [[nodiscard]] uint32_t token_of(const FlowKey& key, const Request& request, Nanos now) const;
  [[nodiscard]] bool issued(const FlowKey& key, const Request& request, Nanos now) const;
  /// Reason why a packet has no flow: unknown key, wrong token, a full table, or payload that is
  /// not authentic, which the owner of the check counts.
  enum class Absence : uint8_t { kUnknown, kForged, kNoRoom, kNotAuthentic };
  tl::expected<State*, Absence> flow_of(const FlowKey& key, const Request& request, Nanos now);
  std::optional<Reply> without_flow(const Request& request, Absence why);
  void begin(State& state, const Protocol& protocol);
  void clear(State& state);
  void forget(State& state);
  void sweep(Nanos now, size_t steps, bool urgent);
  std::optional<Reply> data(State& state, const Request& request, Nanos now);
  std::optional<Reply> datagram(State& state, const Request& request, Nanos now);

  HostTotals& totals_;
  GrowingArray<State> states_;
  FlowIndex index_;  // positions in states_
  // By a hash of the key: position of the flow found last. find() compares its key before it asks
  // the index, which costs more.
  std::vector<uint32_t> guesses_;
  int guess_shift_;
  SackRangePool ranges_;
  bool datagrams_;  // what the flows carry
  SecretKey secret_;
  size_t hand_ = 0;  // position at which the next sweep continues
  uint32_t flows_ = 0;
};

}  // namespace turnpike::sender
