// SPDX-License-Identifier: BSD-3-Clause
// State of a queue that lcores publish to each other: counts, and views of several figures.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace turnpike::aqm {

/// A sum to which every lcore adds its part. Each lcore writes its own part alone.
class SharedCount {
 public:
  explicit SharedCount(unsigned shards) : parts_(shards) {}

  void add(unsigned shard, double v) {
    std::atomic<double>& own = parts_[shard].own;
    own.store(own.load(std::memory_order_relaxed) + v, std::memory_order_relaxed);
  }
  [[nodiscard]] double all() const {
    double sum = 0;
    for (const Part& p : parts_) sum += p.own.load(std::memory_order_relaxed);
    return sum;
  }
  /// The sum that the other lcores have added since this lcore's last call.
  double fresh(unsigned shard) {
    double others = 0;
    for (size_t s = 0; s < parts_.size(); ++s)
      if (s != shard) others += parts_[s].own.load(std::memory_order_relaxed);
    const double since = others - parts_[shard].seen;
    parts_[shard].seen = others;
    return since;
  }

 private:
  struct alignas(64) Part {
    std::atomic<double> own{0};
    double seen = 0;  // of the others' sums; read by this lcore alone
  };
  std::vector<Part> parts_;
};

/// Figures of one moment that one lcore writes and others read: a seqlock, odd while they change.
/// Readers do not wait: load() returns nothing while the view changes.
template <size_t N>
class SharedView {
 public:
  using Values = std::array<double, N>;

  void store(const Values& v) {
    const uint64_t s = sequence_.load(std::memory_order_relaxed);
    sequence_.store(s + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (size_t i = 0; i < N; ++i) values_[i].store(v[i], std::memory_order_relaxed);
    sequence_.store(s + 2, std::memory_order_release);
  }
  [[nodiscard]] std::optional<Values> load() const {
    const uint64_t s = sequence_.load(std::memory_order_acquire);
    Values v;
    for (size_t i = 0; i < N; ++i) v[i] = values_[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((s & 1) != 0 || sequence_.load(std::memory_order_relaxed) != s) return std::nullopt;
    return v;
  }

 private:
  std::atomic<uint64_t> sequence_{0};
  std::array<std::atomic<double>, N> values_{};
};

}  // namespace turnpike::aqm
