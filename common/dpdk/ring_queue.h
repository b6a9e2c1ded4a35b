// SPDX-License-Identifier: BSD-3-Clause
// Two queue pairs back to back over rings: a cable within one process.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <rte_ring.h>
#include <tl/expected.hpp>

#include "common/dpdk/queue_pair.h"

namespace turnpike {

/// One end: receives from one ring and sends into the other. One lcore per end.
class RingQueue final : public QueuePair {
 public:
  RingQueue(rte_ring* rx, rte_ring* tx) : rx_(rx), tx_(tx) {}

  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override;
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;
  /// 0 ns (due already) while packets wait, otherwise kNever.
  [[nodiscard]] Nanos next_deadline() const override;

 private:
  rte_ring* rx_;
  rte_ring* tx_;
};

/// Both rings and both ends. Frees the packets inside when destroyed.
class RingCable {
 public:
  /// `capacity`: packets per direction, at most 2^30.
  static tl::expected<RingCable, std::string> create(std::string_view stem, uint32_t capacity,
                                                     int socket = -1);

  /// End i, 0 or 1. Each end receives the packets that the other sends.
  [[nodiscard]] RingQueue& end(size_t i) { return *ends_[i]; }
  /// Packets inside, both directions.
  [[nodiscard]] uint32_t inside() const;

 private:
  struct Free {
    void operator()(rte_ring* ring) const;
  };
  using Ring = std::unique_ptr<rte_ring, Free>;

  RingCable(Ring a, Ring b);
  std::array<Ring, 2> rings_;  // [i]: towards end i
  std::array<std::unique_ptr<RingQueue>, 2> ends_;
};

}  // namespace turnpike
