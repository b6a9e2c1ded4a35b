// SPDX-License-Identifier: BSD-3-Clause
// A set of small numbers with a fast search for the next member.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace turnpike {

/// A tree of bits: a word of each level marks which of 64 words of the level below are not 0. A
/// search takes one load if the set is dense, one or two per level if it is sparse.
class SlotSet {
 public:
  static constexpr size_t kMax = size_t{1} << 24;

  /// An empty set of numbers below `size` (1 to kMax).
  explicit SlotSet(size_t size) {
    size_t words = 0;
    do {
      begins_[levels_++] = words;
      size = (size + 63) / 64;
      words += size;
    } while (size > 1);
    begins_[levels_] = words;
    words_.resize(words);
  }

  [[nodiscard]] bool contains(size_t i) const { return words_[i / 64] >> i % 64 & 1; }

  /// False: it already was a member.
  bool insert(size_t i) {
    uint64_t& word = words_[i / 64];
    const uint64_t before = word, bit = uint64_t{1} << i % 64;
    word = before | bit;
    if (before == 0) insert_above(i / 64);
    return (before & bit) == 0;
  }

  /// `i` must be a member.
  void erase(size_t i) {
    uint64_t& word = words_[i / 64];
    word &= ~(uint64_t{1} << i % 64);
    if (word == 0) erase_above(i / 64);
  }

  /// The smallest member from `from` on; any number from `end` on if there is none below `end`.
  /// `end` is at most the set's size.
  [[nodiscard]] size_t next(size_t from, size_t end) const {
    if (from >= end) return end;
    if (const uint64_t rest = words_[from / 64] >> from % 64; rest != 0)
      return from + static_cast<size_t>(std::countr_zero(rest));
    if (end <= (from | 63) + 1) return end;
    return next_above(from / 64 + 1, end);
  }

 private:
  // Sets the bits above word `i` of the first level, which is no longer 0.
  void insert_above(size_t i) {
    for (size_t level = 1; level < levels_; ++level, i /= 64) {
      uint64_t& word = words_[begins_[level] + i / 64];
      const bool was_empty = word == 0;
      word |= uint64_t{1} << i % 64;
      if (!was_empty) return;
    }
  }

  // Clears bits above word `i` of the first level, which is now 0.
  void erase_above(size_t i) {
    for (size_t level = 1; level < levels_; ++level, i /= 64) {
      uint64_t& word = words_[begins_[level] + i / 64];
      word &= ~(uint64_t{1} << i % 64);
      if (word != 0) return;
    }
  }

  // The first member from word `i` of the first level on.
  [[nodiscard]] size_t next_above(size_t i, size_t none) const {
    for (size_t level = 1; level < levels_; ++level) {
      const size_t word = begins_[level] + i / 64;
      if (word >= begins_[level + 1]) return none;
      if (const uint64_t rest = words_[word] >> i % 64; rest != 0) {
        i += static_cast<size_t>(std::countr_zero(rest));
        while (level-- > 0)
          i = i * 64 + static_cast<size_t>(std::countr_zero(words_[begins_[level] + i]));
        return i;
      }
      i = i / 64 + 1;
    }
    return none;
  }

  size_t levels_ = 0;
  std::array<size_t, 5> begins_{};  // of each level in words_, and of the end
  std::vector<uint64_t> words_;
};

}  // namespace turnpike
