// SPDX-License-Identifier: BSD-3-Clause
// Which packets of a flow have arrived: all before one number, and a bounded set of runs beyond.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dpdk/large_array.h"

namespace turnpike::sender {

inline constexpr uint32_t kNoRange = UINT32_MAX;

/// Sequences [begin, end) that arrived, after a gap.
struct SackRange {
  uint64_t begin = 0, end = 0;
  uint32_t next = kNoRange, previous = kNoRange;
};

/// All runs of a host's flows. What was never used takes no memory unless the pool was `populated`.
class SackRangePool {
 public:
  explicit SackRangePool(size_t capacity, bool populated = true) : ranges_(capacity, populated) {}
  [[nodiscard]] uint32_t take() {
    const uint32_t i = first_free_;
    if (i == kNoRange) return ranges_.can_grow() ? static_cast<uint32_t>(ranges_.grow()) : kNoRange;
    first_free_ = ranges_[i].next;
    return i;
  }
  void give_back(uint32_t i) {
    ranges_[i].next = first_free_;
    first_free_ = i;
  }
  [[nodiscard]] SackRange& operator[](uint32_t i) { return ranges_[i]; }
  [[nodiscard]] const SackRange& operator[](uint32_t i) const { return ranges_[i]; }

 private:
  GrowingArray<SackRange> ranges_;
  uint32_t first_free_ = kNoRange;
};

/// What arrived of one flow. A packet for which no run is left is refused: it must not be
/// acknowledged, or it would never be sent again. So is one that lies kMaxSteps gaps and more from
/// the last one, and behind the first and the one filled last.
class Received {
 public:
  /// A flow's share of the pool: slow start may lose every other one of 16384 packets, not more.
  static constexpr uint32_t kMaxRuns = 8192;

  /// Runs that one packet looks at, at most.
  static constexpr unsigned kMaxSteps = 64;

  enum class AddResult : uint8_t { kNew, kDuplicate, kRefused };

  /// Notes a packet. `at` becomes the run that holds it, kNoRange if it lies before expected().
  AddResult add(SackRangePool& pool, uint64_t sequence, uint32_t& at);

  /// The next packet expected in order: everything before it has arrived.
  [[nodiscard]] uint64_t expected() const { return expected_; }
  [[nodiscard]] uint32_t first_run() const { return first_; }
  [[nodiscard]] uint32_t last_run() const { return last_; }
  [[nodiscard]] uint32_t runs() const { return count_; }

  /// Forgets everything and gives the runs back.
  void clear(SackRangePool& pool);

 private:
  bool find(const SackRangePool& pool, uint64_t sequence, uint32_t& at) const;
  void unlink(SackRangePool& pool, uint32_t i);
  uint32_t insert(SackRangePool& pool, uint64_t sequence, uint32_t before);

  uint64_t expected_ = 0;
  uint32_t first_ = kNoRange, last_ = kNoRange;
  uint32_t filled_ = kNoRange;  // the run at which the last gap was filled
  uint32_t count_ = 0;
};

}  // namespace turnpike::sender
