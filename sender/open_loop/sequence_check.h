// SPDX-License-Identifier: BSD-3-Clause
// Classifies the packets of a numbered stream: in order, reordered, duplicate.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace turnpike::sender {

/// Reordering as RFC 4737 defines it (section 3.3): a packet is reordered if its number is below
/// the next expected one, which is one more than the greatest seen; a second copy is a duplicate
/// and never reordered. Detects duplicates among about the last kWindow numbers.
class SequenceCheck {
 public:
  static constexpr uint64_t kWindow = 1U << 16;
  /// Numbers at least this far ahead are invalid.
  static constexpr uint64_t kFarthest = uint64_t{1} << 32;

  enum class Arrival : uint8_t {
    kInOrder,    // the next number or beyond: the numbers between are late or lost
    kReordered,  // late, first copy
    kDuplicate,
    kTooOld,  // late, below the window: a first copy or a duplicate
    kAbsurd,  // at least kFarthest ahead
  };

  Arrival note(uint64_t sequence) {
    const uint64_t expected = next();
    if (sequence >= expected) {
      if (sequence - expected >= kFarthest) return Arrival::kAbsurd;
      forget(expected, sequence);
      word(sequence) |= bit(sequence);
      next_.store(sequence + 1, std::memory_order_relaxed);
      return Arrival::kInOrder;
    }
    // The word of the greatest number also holds bits of numbers of the previous window.
    if (expected - sequence > kWindow - 64) return Arrival::kTooOld;
    if ((word(sequence) & bit(sequence)) != 0) return Arrival::kDuplicate;
    word(sequence) |= bit(sequence);
    return Arrival::kReordered;
  }

  /// One more than the greatest number seen: NextExp of RFC 4737. Any thread may call it.
  [[nodiscard]] uint64_t next() const { return next_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kWords = kWindow / 64;
  static uint64_t bit(uint64_t sequence) { return uint64_t{1} << (sequence % 64); }
  uint64_t& word(uint64_t sequence) { return seen_[sequence / 64 % kWords]; }

  // Clears words after that of the greatest number: they hold bits of the previous window.
  void forget(uint64_t expected, uint64_t sequence) {
    const uint64_t first = (expected + 63) / 64, last = sequence / 64;
    if (first > last) return;
    const uint64_t words = std::min(last - first + 1, kWords);
    for (uint64_t w = last + 1 - words; w <= last; ++w) seen_[w % kWords] = 0;
  }

  std::atomic<uint64_t> next_{0};
  std::array<uint64_t, kWords> seen_{};
};

}  // namespace turnpike::sender
