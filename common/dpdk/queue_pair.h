// SPDX-License-Identifier: BSD-3-Clause
// A port from one lcore's point of view: a receive queue and a transmit queue.
#pragma once

#include <cstdint>
#include <span>

#include "common/units/units.h"

struct rte_mbuf;

namespace turnpike {

/// Both queues belong to one lcore. Real NICs, virtual devices, in-process rings and delay lines
/// implement it; one virtual call per burst.
class QueuePair {
 public:
  virtual ~QueuePair() = default;

  /// Receives packets that have arrived by `now`, at most out.size(). Returns their number.
  virtual uint16_t rx(Nanos now, std::span<rte_mbuf*> out) = 0;
  /// Sends; returns how many packets it took from the front. The caller keeps the others.
  virtual uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) = 0;
  /// Time of the next arrival or internal transmission; kNever if only polling can find out.
  [[nodiscard]] virtual Nanos next_deadline() const { return kNever; }
  /// Address of the time of the next arrival, kNever if no packet is on its way: rx() before that
  /// time returns none, so that callers may skip the port. The port updates it in place for as long
  /// as it lives. Null if only polling can find out, or if the port transmits by itself.
  [[nodiscard]] virtual const Nanos* next_arrival() const { return nullptr; }
  /// Packets inside a delay line: held until they come out.
  [[nodiscard]] virtual uint32_t held() const { return 0; }
};

}  // namespace turnpike
