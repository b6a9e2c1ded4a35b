// SPDX-License-Identifier: BSD-3-Clause
// Reads the input of a fuzz target: bytes as choices, numbers, times and header fields.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

#include "common/units/units.h"
#include "common/wire/bytes.h"

namespace turnpike::fuzz {

/// Ends the program with a finding unless it `holds`.
inline void require(bool holds, const char* what) {
  if (holds) [[likely]]
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Takes choices off the front of an input. Beyond its end all bytes are zero, so that every prefix
/// of an input is a valid input, too.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(data, size) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  uint8_t byte() {
    if (left_.empty()) return 0;
    const uint8_t b = left_.front();
    left_ = left_.subspan(1);
    return b;
  }
  size_t below(size_t n) { return byte() % n; }
  uint32_t word() {
    std::array<uint8_t, 4> b{};
    fill(b);
    return wire::load_be32(b.data());
  }
  void fill(std::span<uint8_t> out) {
    for (uint8_t& b : out) b = byte();
  }

  /// A span of 0 ns to 32 s in one byte: three bits of mantissa, five of exponent.
  Nanos time() {
    const uint8_t b = byte();
    return b == 0 ? Nanos(0) : Nanos((int64_t{8} + (b & 7)) << (b >> 3));
  }

  /// A number for a header's field: any, or one at which behaviour changes.
  float real() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr std::array kEdges{0.0F,
                                -0.0F,
                                1e-18F,
                                1.1e-18F,
                                1e-12F,
                                1e-9F,
                                1e-6F,
                                1e-3F,
                                1.0F,
                                -1.0F,
                                1500.0F,
                                1e6F,
                                1e9F,
                                1e12F,
                                1.1e12F,
                                1e20F,
                                -1e20F,
                                std::numeric_limits<float>::min(),
                                std::numeric_limits<float>::denorm_min(),
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::lowest(),
                                kInfinity,
                                -kInfinity,
                                std::numeric_limits<float>::quiet_NaN()};
    const uint8_t b = byte();
    if (b < kEdges.size()) return kEdges[b];
    // Otherwise a magnitude: prices and rates span thirty decades.
    if (b < 192) return std::ldexp(1.0F + static_cast<float>(b & 1) / 2, (b - 108) * 3 / 2);
    return std::bit_cast<float>(word());
  }

  /// Changes some of a header's words: each to a real number, a round trip, or any bits.
  void spoil(std::span<uint8_t> header) {
    const uint8_t what = byte();
    for (unsigned n = 0; n < (what & 3U) + 1 && header.size() >= 4; ++n) {
      uint8_t* at = header.data() + below(header.size() / 4) * 4;
      switch (what >> 2 & 3) {
        case 0:
        case 1:
          wire::store_f32(at, real());
          break;
        case 2:
          wire::store_be32(at, static_cast<uint32_t>(time().count()));
          break;
        default:
          wire::store_be32(at, word());
      }
    }
  }

 private:
  std::span<const uint8_t> left_;
};

}  // namespace turnpike::fuzz
