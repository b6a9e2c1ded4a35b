// SPDX-License-Identifier: BSD-3-Clause
// A host as a sink: what it has of each flow that others send to it, and what it answers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "common/units/units.h"
#include "common/wire/turnpike_header.h"
#include "sender/observed.h"
#include "sender/received.h"

struct rte_hash;

namespace turnpike::sender {

/// Who a flow is to its receiver. All bytes count in the comparison.
struct FlowKey {
  std::array<uint8_t, 16> source{};  // an IPv4 address in the first four
  uint32_t flow = 0;
  uint16_t port = 0;
  uint16_t ip_version = 0;
};
static_assert(sizeof(FlowKey) == 24, "no padding: keys are hashed as bytes");

/// What goes back for one packet.
struct Reply {
  wire::Kind kind = wire::Kind::kAck;
  uint32_t acknowledgement = 0;
  uint8_t ranges = 0;
  std::array<wire::SeqRange, wire::kMaxRanges> range{};
};

/// Nothing is allocated after construction.
class Receiver {
 public:
  /// How long a flow that has ended is remembered, so that late copies of its packets are known.
  static constexpr Nanos kLinger = 2_s;
  /// And one that has fallen silent without ending.
  static constexpr Nanos kIdle = 60_s;

  /// Room for `capacity` flows at a time and `runs` gaps among all of them.
  static tl::expected<std::unique_ptr<Receiver>, std::string> make(uint32_t capacity, size_t runs,
                                                                   HostTotals& totals);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Takes a SYN, DATA or FIN of `size` B (the IP datagram). Nothing: it must not be answered.
  std::optional<Reply> receive(const FlowKey& key, const wire::Header& header, uint32_t size,
                               Nanos now);

  [[nodiscard]] uint32_t flows() const { return flows_; }

 private:
  struct State {
    FlowKey key;
    Received received;
    Nanos heard{0};
    uint64_t packets = UINT64_MAX;  // of the whole flow, once its FIN has said so
    bool used = false;
    [[nodiscard]] bool finished() const { return received.expected() >= packets; }
  };

  Receiver(uint32_t capacity, size_t runs, rte_hash* table, HostTotals& totals);

  State* find(const FlowKey& key);
  State* open(const FlowKey& key, Nanos now);
  void forget(State& state);
  void sweep(Nanos now, size_t steps, bool urgent);
  std::optional<Reply> data(State& state, const wire::Header& header, uint32_t size);

  rte_hash* table_;
  HostTotals& totals_;
  std::vector<State> states_;  // by position in the hash table
  RunPool runs_;
  size_t hand_ = 0;  // where the sweep goes on
  uint32_t flows_ = 0;
};

}  // namespace turnpike::sender
