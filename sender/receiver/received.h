// SPDX-License-Identifier: BSD-3-Clause
// The packets of a flow that have arrived: all before one number, and a bounded set of ranges
// after.
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

/// The ranges of all flows of a host. Unused entries take no memory unless the pool is `populated`.
class SackRangePool {
 public:
  explicit SackRangePool(size_t capacity, bool populated = true) : ranges_(capacity, populated) {}
  /// Returns the index of a free entry; kNoRange: none is left.
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

/// The packets of one flow that have arrived. Refuses a packet if its range needs an entry and none
/// is left: the packet must not be acknowledged, or the sender would never retransmit it. Also
/// refuses a packet that lies kMaxSteps ranges or more from the first one, the last one and the
/// finger, which is where the last search ended: a packet that is sent again and again is found
/// after kMaxRuns / kMaxSteps searches at the latest, if no other packet moves the finger.
class Received {
 public:
  /// Ranges per flow: slow start may lose every other packet of 16384, not more.
  static constexpr uint32_t kMaxRuns = 8192;

  /// Steps of the search for one packet's range.
  static constexpr unsigned kMaxSteps = 64;

  enum class AddResult : uint8_t { kNew, kDuplicate, kRefused };

  /// Records a packet. Sets `at` to the index of its range, kNoRange if it lies before expected().
  AddResult add(SackRangePool& pool, uint64_t sequence, uint32_t& at);

  /// The next packet expected in order: all packets before it have arrived.
  [[nodiscard]] uint64_t expected() const { return expected_; }
  [[nodiscard]] uint32_t first_run() const { return first_; }
  [[nodiscard]] uint32_t last_run() const { return last_; }
  [[nodiscard]] uint32_t runs() const { return count_; }

  /// Forgets all packets and returns the ranges to the pool.
  void clear(SackRangePool& pool);

 private:
  bool find(const SackRangePool& pool, uint64_t sequence, uint32_t& at);
  void unlink(SackRangePool& pool, uint32_t i);
  uint32_t insert(SackRangePool& pool, uint64_t sequence, uint32_t before);

  uint64_t expected_ = 0;
  uint32_t first_ = kNoRange, last_ = kNoRange;
  uint32_t finger_ = kNoRange;  // where searches begin, but for the ends
  uint32_t count_ = 0;
};

}  // namespace turnpike::sender
