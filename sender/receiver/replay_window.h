// SPDX-License-Identifier: BSD-3-Clause
// Which of a flow's newest packets have been received (RFC 4303 section 3.4.3, as in RFC 6479).
#pragma once

#include <array>
#include <cstdint>

namespace turnpike::sender {

/// A window over the sequence numbers up to the highest received. Its memory is fixed, and a packet
/// costs the same however far it is ahead.
class ReplayWindow {
 public:
  static constexpr uint64_t kSize = 1024;  // packets that may overtake one

  /// One past the highest number received; 0: none.
  [[nodiscard]] uint64_t highest() const { return end_; }
  /// Whether the number lies before the window: whether it was received is not known.
  [[nodiscard]] bool too_old(uint64_t sequence) const { return sequence + kSize < end_ + kWord; }

  /// Records a number that is not too old. False: it has been received before.
  bool add(uint64_t sequence) {
    if (sequence >= end_) advance(sequence + 1);
    uint64_t& word = words_[sequence / kWord % kWords];
    const uint64_t bit = uint64_t{1} << sequence % kWord;
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }

  /// The first of the numbers up to `sequence` that have all been received, as far back as a word
  /// tells: at most 64. The number itself has been received.
  [[nodiscard]] uint64_t run_before(uint64_t sequence) const {
    const uint64_t word = words_[sequence / kWord % kWords];
    const auto at = static_cast<unsigned>(sequence % kWord);
    const uint64_t missing = ~word & ((uint64_t{1} << at) - 1);
    const uint64_t first = sequence - at;
    return missing == 0 ? first : first + 64 - static_cast<unsigned>(__builtin_clzll(missing));
  }

 private:
  static constexpr uint64_t kWord = 64;  // bits
  static constexpr uint64_t kWords = kSize / kWord;

  // Clears the words that the window's end enters.
  void advance(uint64_t end) {
    const uint64_t last = (end - 1) / kWord;
    uint64_t first = end_ == 0 ? 0 : (end_ - 1) / kWord + 1;
    if (last >= first + kWords) first = last - kWords + 1;
    for (uint64_t w = first; w <= last; ++w) words_[w % kWords] = 0;
    end_ = end;
  }

  uint64_t end_ = 0;
  std::array<uint64_t, kWords> words_{};
};

}  // namespace turnpike::sender
