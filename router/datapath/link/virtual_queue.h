// SPDX-License-Identifier: BSD-3-Clause
// The virtual queue of a line-rate link: arrivals less the bytes that its capacity has carried.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "common/units/units.h"

namespace turnpike::router {

/// A worker's last view of the queue: `bytes` waited at time `at`, when `total` bytes of all
/// workers had arrived.
struct QueueView {
  double bytes = 0;
  Nanos at{0};
  uint64_t total = 0;

  /// The queue at `now`, after `arrived` bytes in total. New bytes count as having arrived at
  /// `now`, so a view is accurate if it is not much older than a burst.
  [[nodiscard]] QueueView later(Nanos now, uint64_t arrived, double capacity) const {
    const double carried = now > at ? capacity * to_seconds(now - at) : 0;
    const uint64_t fresh = arrived > total ? arrived - total : 0;
    return {std::max(0.0, bytes - carried) + static_cast<double>(fresh), std::max(now, at),
            std::max(arrived, total)};
  }
};

/// A worker's view that other workers read consistently: a seqlock with one writer, odd while the
/// fields change. load() never waits: it returns std::nullopt if the view changes meanwhile.
class PublishedView {
 public:
  /// Writer only.
  void store(const QueueView& v) {
    const uint64_t s = sequence_.load(std::memory_order_relaxed);
    sequence_.store(s + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    bytes_.store(v.bytes, std::memory_order_relaxed);
    at_.store(v.at.count(), std::memory_order_relaxed);
    total_.store(v.total, std::memory_order_relaxed);
    sequence_.store(s + 2, std::memory_order_release);
  }
  /// Any thread.
  [[nodiscard]] std::optional<QueueView> load() const {
    const uint64_t s = sequence_.load(std::memory_order_acquire);
    const QueueView v = own();
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((s & 1) != 0 || sequence_.load(std::memory_order_relaxed) != s) return std::nullopt;
    return v;
  }
  /// The writer's last view; call on the writer's thread, or check the sequence.
  [[nodiscard]] QueueView own() const {
    return {bytes_.load(std::memory_order_relaxed), Nanos(at_.load(std::memory_order_relaxed)),
            total_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<uint64_t> sequence_{0};
  std::atomic<double> bytes_{0};
  std::atomic<int64_t> at_{0};
  std::atomic<uint64_t> total_{0};
};

}  // namespace turnpike::router
