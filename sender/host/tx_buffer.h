// SPDX-License-Identifier: BSD-3-Clause
// Gathers a host's frames into bursts for its TX queue.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <rte_mbuf.h>

#include "common/dpdk/queue_pair.h"

namespace turnpike::sender {

/// Owns its frames. Frames that the queue does not accept stay, in order, for the next flush().
class TxBuffer {
 public:
  static constexpr uint16_t kRoom = 256;

  explicit TxBuffer(QueuePair& queue) : queue_(queue) {}
  ~TxBuffer() { rte_pktmbuf_free_bulk(frames_.data(), count_); }
  TxBuffer(const TxBuffer&) = delete;
  TxBuffer& operator=(const TxBuffer&) = delete;

  [[nodiscard]] bool full() const { return count_ == kRoom; }
  [[nodiscard]] uint16_t waiting() const { return count_; }
  /// Precondition: !full().
  void put(rte_mbuf* frame) { frames_[count_++] = frame; }

  void flush(Nanos now) {
    uint16_t done = 0;
    while (done < count_) {
      const uint16_t n = queue_.tx(now, std::span(frames_.data() + done, count_ - done));
      if (n == 0) break;
      done = static_cast<uint16_t>(done + n);
    }
    for (uint16_t i = done; i < count_; ++i) frames_[i - done] = frames_[i];
    count_ = static_cast<uint16_t>(count_ - done);
  }

 private:
  QueuePair& queue_;
  std::array<rte_mbuf*, kRoom> frames_{};
  uint16_t count_ = 0;
};

}  // namespace turnpike::sender
