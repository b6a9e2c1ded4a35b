// SPDX-License-Identifier: BSD-3-Clause
// The queue that a line-rate link would have: what arrived less what its capacity has carried.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "common/units/units.h"

namespace turnpike::router {

/// What one worker last knew: `bytes` waited at time `at`, `total` bytes having arrived by then
/// from all workers together.
struct QueueView {
  double bytes = 0;
  Nanos at{0};
  uint64_t total = 0;

  /// The queue at `now`, when `arrived` bytes have come in all. New ones count as having come just
  /// now, so a view is good as long as it is not much older than a burst.
  [[nodiscard]] QueueView later(Nanos now, uint64_t arrived, double capacity) const {
    const double carried = now > at ? capacity * to_seconds(now - at) : 0;
    const uint64_t fresh = arrived > total ? arrived - total : 0;
    return {std::max(0.0, bytes - carried) + static_cast<double>(fresh), std::max(now, at),
            std::max(arrived, total)};
  }
};

/// A worker's view where the others can read it, all three figures of one moment: the sequence is
/// odd while they change (a seqlock with one writer). Nobody waits: a view that changes under the
/// reader's eyes is passed over.
class PublishedView {
 public:
  void store(const QueueView& v) {
    const uint64_t s = sequence_.load(std::memory_order_relaxed);
    sequence_.store(s + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    bytes_.store(v.bytes, std::memory_order_relaxed);
    at_.store(v.at.count(), std::memory_order_relaxed);
    total_.store(v.total, std::memory_order_relaxed);
    sequence_.store(s + 2, std::memory_order_release);
  }
  [[nodiscard]] std::optional<QueueView> load() const {
    const uint64_t s = sequence_.load(std::memory_order_acquire);
    const QueueView v = own();
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((s & 1) != 0 || sequence_.load(std::memory_order_relaxed) != s) return std::nullopt;
    return v;
  }
  /// What the writer itself stored last.
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
