// SPDX-License-Identifier: BSD-3-Clause
// A counter that one lcore writes and anybody may read.
#pragma once

#include <atomic>
#include <cstdint>

namespace turnpike::metrics {

/// Adds without a read-modify-write on the bus: there is a single writer, so a relaxed load and a
/// relaxed store are enough, and readers see every value once it is stored.
class Counter {
 public:
  void add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] uint64_t read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace turnpike::metrics
