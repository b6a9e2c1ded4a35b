// SPDX-License-Identifier: BSD-3-Clause
// One receive and one transmit queue of a DPDK port.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/dpdk/memif_guard.h"
#include "common/dpdk/queue_pair.h"
#include "common/dpdk/rss_steering.h"

namespace turnpike {

class EthQueue final : public QueuePair {
 public:
  struct Traits {
    bool chains = true;  // the device sends packets of several segments
    bool memif = false;  // guards bursts against a neighbour that disconnects
  };
  EthQueue(uint16_t port, uint16_t queue, Traits traits);

  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override;
  /// Joins the segments of a packet into one where the device takes no chains. Frees and counts
  /// packets that cannot be joined (no tailroom).
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;

  /// Lets `steering`, which outlives the queue, see received packets as those of its port `number`.
  /// Call before the first rx().
  void steer(RssSteering& steering, unsigned number) {
    steering_ = &steering;
    number_ = number;
  }

  /// Packets taken by tx() that the device could never send.
  [[nodiscard]] uint64_t unsendable() const { return unsendable_.load(std::memory_order_relaxed); }

 private:
  uint16_t receive(std::span<rte_mbuf*> out);
  /// Whether the device has nothing to receive; true for drivers that do not tell.
  [[nodiscard]] bool ring_empty() const;
  uint16_t send(std::span<rte_mbuf*> burst);
  uint16_t send_single_segments(std::span<rte_mbuf*> burst);

  uint16_t port_, queue_;
  bool chains_;
  std::optional<MemifGuard> guard_;
  RssSteering* steering_ = nullptr;  // null: no bucket of the port moves
  unsigned number_ = 0;
  std::atomic<uint64_t> unsendable_{0};  // the owner writes, any thread reads
};

}  // namespace turnpike
