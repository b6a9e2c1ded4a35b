// SPDX-License-Identifier: BSD-3-Clause
// A ring of slots that a worker fills in place and the control thread reads in place.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace turnpike::router {

/// One producer, one consumer. Unlike rte_ring, the producer writes variable parts of a slot in
/// place (DPDK's zero-copy calls are experimental), and publishes several slots at once.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): each side has cache lines of its own
class SlotRing {
 public:
  /// `slots`: at least 1; `bytes`: of a slot, rounded up to 8. Allocates and touches all memory.
  SlotRing(uint32_t slots, size_t bytes)
      : slots_(std::max(slots, 1U)), bytes_((bytes + 7) / 8 * 8), memory_(slots_ * bytes_ / 8) {}

  /// The `ahead`-th slot after the published ones; null: the ring is full. Producer only.
  uint8_t* claim(uint32_t ahead = 0) {
    const uint64_t at = head_.load(std::memory_order_relaxed) + ahead;
    if (at - known_tail_ >= slots_) {
      known_tail_ = tail_.load(std::memory_order_acquire);
      if (at - known_tail_ >= slots_) return nullptr;
    }
    return address(at);
  }
  /// Hands the next n claimed slots to the consumer. Producer only.
  void publish(uint32_t n = 1) {
    head_.store(head_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }

  /// The oldest published slot; null: none. Consumer only.
  const uint8_t* front() {
    const uint64_t at = tail_.load(std::memory_order_relaxed);
    return at == head_.load(std::memory_order_acquire) ? nullptr : address(at);
  }
  /// Gives the oldest slot back. Consumer only, after front().
  void pop() { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  uint8_t* address(uint64_t at) {
    return reinterpret_cast<uint8_t*>(memory_.data()) + at % slots_ * bytes_;
  }

  const uint64_t slots_;
  const size_t bytes_;
  std::vector<uint64_t> memory_;
  alignas(64) std::atomic<uint64_t> head_{0};  // slots published
  uint64_t known_tail_ = 0;                    // the producer's copy of tail_
  alignas(64) std::atomic<uint64_t> tail_{0};  // slots given back
};

}  // namespace turnpike::router
