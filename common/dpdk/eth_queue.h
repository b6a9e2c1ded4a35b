// SPDX-License-Identifier: BSD-3-Clause
// One receive and one transmit queue of a DPDK port.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/dpdk/queue_pair.h"

namespace turnpike {

class EthQueue final : public QueuePair {
 public:
  /// `chains`: the device sends packets of several segments.
  EthQueue(uint16_t port, uint16_t queue, bool chains)
      : port_(port), queue_(queue), chains_(chains) {}

  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override;
  /// Where the device takes no chains they are made one segment first; one that cannot be (no
  /// tailroom) is freed and counted.
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;

  /// Packets taken by tx() that the device could never send.
  [[nodiscard]] uint64_t unsendable() const { return unsendable_.load(std::memory_order_relaxed); }

 private:
  uint16_t tx_single_segments(std::span<rte_mbuf*> burst);

  uint16_t port_, queue_;
  bool chains_;
  std::atomic<uint64_t> unsendable_{0};  // the owner writes, anybody reads
};

}  // namespace turnpike
