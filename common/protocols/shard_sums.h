// SPDX-License-Identifier: BSD-3-Clause
// Sums that every lcore keeps for itself; one lcore adds them up once per control interval.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace turnpike {

/// One writer per shard, so no contended read-modify-write. Totals count from the start, so that
/// the reader takes differences and writes only its own data; in binary64 they are exact up to 2^53
/// B.
template <size_t Fields>
class ShardSums {
 public:
  using Values = std::array<double, Fields>;

  explicit ShardSums(unsigned shards)
      : shards_(std::make_unique<Shard[]>(shards)), count_(shards) {}

  /// Adds to a shard's totals. Only the shard's own lcore calls it.
  void add(unsigned shard, const Values& v) {
    for (size_t f = 0; f < Fields; ++f) {
      std::atomic<double>& total = shards_[shard].totals[f];
      total.store(total.load(std::memory_order_relaxed) + v[f], std::memory_order_relaxed);
    }
  }

  /// Returns the increase of all shards since the last call. One thread only.
  Values take() {
    Values now{};
    for (unsigned s = 0; s < count_; ++s)
      for (size_t f = 0; f < Fields; ++f)
        now[f] += shards_[s].totals[f].load(std::memory_order_relaxed);
    Values since;
    for (size_t f = 0; f < Fields; ++f)
      since[f] = now[f] - taken_[f].load(std::memory_order_relaxed);
    for (size_t f = 0; f < Fields; ++f) taken_[f].store(now[f], std::memory_order_relaxed);
    return since;
  }

  /// Increase of a field, over all shards, since take() was last called. Any thread.
  [[nodiscard]] double since_taken(size_t field) const {
    double now = -taken_[field].load(std::memory_order_relaxed);
    for (unsigned s = 0; s < count_; ++s)
      now += shards_[s].totals[field].load(std::memory_order_relaxed);
    return now;
  }

 private:
  struct alignas(64) Shard {
    std::array<std::atomic<double>, Fields> totals{};
  };
  std::unique_ptr<Shard[]> shards_;
  unsigned count_;
  std::array<std::atomic<double>, Fields> taken_{};
};

}  // namespace turnpike
