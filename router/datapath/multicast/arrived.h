// SPDX-License-Identifier: BSD-3-Clause
// The packets of a flow that arrived below one branch of a tree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/wire/serial.h"

namespace turnpike::router {

/// All packets before `expected()`, and a bit for each in a window that starts at the flow's base:
/// the first packet that some branch lacks. Sequences are serial numbers of 32 bits.
class Arrived {
 public:
  static constexpr uint32_t kWindow = 1024;
  static constexpr size_t kWords = kWindow / 64;

  [[nodiscard]] uint32_t expected() const { return expected_; }

  /// Whether the packet arrived, as far as known. `base`: of the flow.
  [[nodiscard]] bool has(uint32_t sequence, uint32_t base) const {
    if (wire::serial_before(sequence, expected_)) return true;
    return sequence - base < kWindow && (word(sequence) >> (sequence % 64) & 1) != 0;
  }

  /// Notes packets [begin, end); those beyond the window are forgotten.
  void add(uint32_t begin, uint32_t end, uint32_t base) {
    if (wire::serial_before(end, base)) return;
    // Distances from the base: at most kWindow, however far apart the numbers are.
    const uint32_t first = wire::serial_before(begin, base) ? 0 : begin - base;
    const uint32_t last = std::min(end - base, kWindow);
    if (first >= last) return;
    fill(base + first, base + last);
    while (expected_ - base < kWindow && (word(expected_) >> (expected_ % 64) & 1) != 0)
      ++expected_;
  }

  /// Notes all packets before `expected`.
  void add_before(uint32_t expected, uint32_t base) {
    if (!wire::serial_before(expected_, expected)) return;
    const uint32_t from = expected_;
    expected_ = expected;
    add(from, expected, base);
  }

  /// Moves the window from `base` to `next`, at or after it.
  void move(uint32_t base, uint32_t next) {
    const uint32_t steps = std::min(next - base, kWindow);
    for (uint32_t i = 0; i < steps; ++i) {
      const uint32_t old = next - steps + i;  // leaves the window; its bit is that of the new one
      const uint32_t entering = old + kWindow;
      uint64_t& w = words_[entering / 64 % kWords];
      const uint64_t bit = uint64_t{1} << (entering % 64);
      w = wire::serial_before(entering, expected_) ? w | bit : w & ~bit;
    }
    if (wire::serial_before(expected_, next)) expected_ = next;
  }

  [[nodiscard]] const std::array<uint64_t, kWords>& words() const { return words_; }

 private:
  [[nodiscard]] uint64_t word(uint32_t sequence) const { return words_[sequence / 64 % kWords]; }

  void fill(uint32_t begin, uint32_t end) {
    for (uint32_t at = begin; at != end;) {
      const uint32_t in_word = std::min(64 - at % 64, end - at);
      const uint64_t ones = in_word == 64 ? ~uint64_t{0} : (uint64_t{1} << in_word) - 1;
      words_[at / 64 % kWords] |= ones << (at % 64);
      at += in_word;
    }
  }

  uint32_t expected_ = 0;
  std::array<uint64_t, kWords> words_{};
};

}  // namespace turnpike::router
