// SPDX-License-Identifier: BSD-3-Clause
// A counter that one lcore writes and any thread reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace turnpike::metrics {

/// Adds without a locked read-modify-write: with a single writer, a relaxed load and a relaxed
/// store are enough, and readers see every stored value.
class Counter {
 public:
  void add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  /// Only while no lcore uses the counter.
  void set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  [[nodiscard]] uint64_t read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace turnpike::metrics
