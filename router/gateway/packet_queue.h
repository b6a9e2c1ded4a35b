// SPDX-License-Identifier: BSD-3-Clause
// Packets that wait for the router's stages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <rte_mbuf.h>

#include "common/dpdk/queue_pair.h"

namespace turnpike::gateway {

/// A bounded queue, filled and emptied within one poll. As a queue pair, it is the port of the
/// gateway's flows. Owns its packets.
class PacketQueue final : public QueuePair {
 public:
  explicit PacketQueue(size_t capacity) { packets_.reserve(capacity); }
  ~PacketQueue() override { rte_pktmbuf_free_bulk(packets_.data() + first_, waiting()); }
  PacketQueue(const PacketQueue&) = delete;
  PacketQueue& operator=(const PacketQueue&) = delete;

  [[nodiscard]] unsigned waiting() const { return static_cast<unsigned>(packets_.size() - first_); }
  [[nodiscard]] bool full() const { return packets_.size() == packets_.capacity(); }
  /// Precondition: !full().
  void put(rte_mbuf* packet) { packets_.push_back(packet); }

  uint16_t tx(Nanos, std::span<rte_mbuf*> burst) override {
    uint16_t n = 0;
    for (; n < burst.size() && !full(); ++n) put(burst[n]);
    return n;
  }
  uint16_t rx(Nanos, std::span<rte_mbuf*> out) override {
    uint16_t n = 0;
    for (; n < out.size() && waiting() > 0; ++n) out[n] = packets_[first_++];
    if (waiting() == 0) {
      packets_.clear();
      first_ = 0;
    }
    return n;
  }

 private:
  std::vector<rte_mbuf*> packets_;
  size_t first_ = 0;
};

}  // namespace turnpike::gateway
