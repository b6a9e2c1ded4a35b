// SPDX-License-Identifier: BSD-3-Clause
// Propagation delay in software: a queue pair that holds each packet for a fixed time.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/dpdk/queue_pair.h"

namespace turnpike {

/// A link's propagation delay between its owner and another queue pair. Keeps packets in order; a
/// packet comes out with the first poll at or after its arrival time. Polled by one lcore, which
/// owns both.
class DelayLine final : public QueuePair {
 public:
  struct Options {
    Nanos rx_delay{0};
    Nanos tx_delay{0};
    uint32_t capacity = 0;  // packets held per direction; at least rate x delay / packet
  };
  /// `inner` must outlive this object.
  DelayLine(QueuePair& inner, const Options& options);
  DelayLine(const DelayLine&) = delete;
  DelayLine& operator=(const DelayLine&) = delete;
  /// Frees the packets held.
  ~DelayLine() override;

  /// Receives from the inner pair into the delay line, and returns packets that have arrived.
  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override;
  /// Takes no packet while the inner pair is full, as that pair would, so that packets wait where
  /// their sender knows of it. Otherwise takes all; frees and counts those beyond `capacity`.
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;
  [[nodiscard]] Nanos next_deadline() const override;
  [[nodiscard]] uint32_t held() const override;

  /// Packets lost because `capacity` was too small for the load: a configuration mistake.
  [[nodiscard]] uint64_t overflowed() const { return overflowed_.load(std::memory_order_relaxed); }

 private:
  /// FIFO, each entry with its arrival time.
  class Direction {
   public:
    explicit Direction(uint32_t capacity);
    bool push(rte_mbuf* packet, Nanos due);
    /// Copies the packets at the front that are due to `out`; they stay until pop().
    uint16_t due(Nanos now, std::span<rte_mbuf*> out) const;
    void pop(uint16_t n) { head_ += n; }
    [[nodiscard]] Nanos next() const;
    [[nodiscard]] uint32_t size() const { return tail_ - head_; }

   private:
    struct Entry {
      Nanos due;
      rte_mbuf* packet;
    };
    [[nodiscard]] const Entry& at(uint32_t i) const { return entries_[i & mask_]; }
    std::vector<Entry> entries_;  // a power of two
    uint32_t capacity_, mask_;
    uint32_t head_ = 0, tail_ = 0;  // count up and wrap
  };

  void launch(Direction& direction, std::span<rte_mbuf*> burst, Nanos due);
  void send_due(Nanos now);
  static void free_all(Direction& direction);

  QueuePair& inner_;
  Nanos rx_delay_, tx_delay_;
  Direction rx_, tx_;
  std::atomic<uint64_t> overflowed_{0};  // the owner writes, any thread reads
};

}  // namespace turnpike
