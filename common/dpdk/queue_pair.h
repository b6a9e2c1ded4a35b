// SPDX-License-Identifier: BSD-3-Clause
// A port as one lcore sees it: a receive queue and a transmit queue of its own.
#pragma once

#include <cstdint>
#include <span>

#include "common/units/units.h"

struct rte_mbuf;

namespace turnpike {

/// Both queues belong to one lcore. Real NICs, virtual devices, in-process rings and emulated wires
/// all look like this; one indirect call per burst.
class QueuePair {
 public:
  virtual ~QueuePair() = default;

  /// Takes what has arrived by `now`, at most out.size() packets; returns how many.
  virtual uint16_t rx(Nanos now, std::span<rte_mbuf*> out) = 0;
  /// Sends; returns how many it took from the front. The rest still belongs to the caller.
  virtual uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) = 0;
  /// When rx or an internal wire next has something to do; kNever where only polling can tell.
  [[nodiscard]] virtual Nanos next_deadline() const { return kNever; }
  /// Packets inside (a wire's): counted as held until they come out.
  [[nodiscard]] virtual uint32_t held() const { return 0; }
};

}  // namespace turnpike
