// SPDX-License-Identifier: BSD-3-Clause
// Propagation delay in software: a queue pair whose packets are under way for a while.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/dpdk/queue_pair.h"

namespace turnpike {

/// A link's length between its owner and another queue pair. Packets keep their order; a packet
/// comes out with the first poll at or after its time. Polled by the lcore that owns both.
class DelayLine final : public QueuePair {
 public:
  struct Options {
    Nanos rx_delay{0};
    Nanos tx_delay{0};
    uint32_t capacity = 0;  // packets under way per direction; at least rate x delay / packet
  };
  DelayLine(QueuePair& inner, const Options& options);
  DelayLine(const DelayLine&) = delete;
  DelayLine& operator=(const DelayLine&) = delete;
  /// Frees what is under way.
  ~DelayLine() override;

  /// Puts what the inner pair has received onto the wire, and takes off what has arrived.
  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override;
  /// Takes all: what finds no room is freed and counted, as a cable loses what it cannot carry.
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override;
  [[nodiscard]] Nanos next_deadline() const override;
  [[nodiscard]] uint32_t held() const override;

  /// Packets lost because `capacity` was too small for the load: a mistake in the set-up.
  [[nodiscard]] uint64_t overflowed() const { return overflowed_.load(std::memory_order_relaxed); }

 private:
  /// First in, first out, each entry with the time at which it arrives.
  class Direction {
   public:
    explicit Direction(uint32_t capacity);
    bool push(rte_mbuf* packet, Nanos due);
    /// Copies the front's packets that are due to `out`; they stay until pop().
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
    uint32_t head_ = 0, tail_ = 0;  // count up for ever and wrap
  };

  void launch(Direction& direction, std::span<rte_mbuf*> burst, Nanos due);
  void send_due(Nanos now);
  static void free_all(Direction& direction);

  QueuePair& inner_;
  Nanos rx_delay_, tx_delay_;
  Direction rx_, tx_;
  std::atomic<uint64_t> overflowed_{0};  // the owner writes, anybody reads
};

}  // namespace turnpike
