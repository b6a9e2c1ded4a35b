// SPDX-License-Identifier: BSD-3-Clause
// Obscures flow ids with a key of the run.
#pragma once

#include <bit>
#include <cstdint>

namespace turnpike::sender {

/// A keyed permutation of 32-bit numbers: an id on the wire does not reveal which other ids are in
/// use. It is not a cipher; an observer of many ids may recover the key. The flow's token, not its
/// id, authenticates a packet.
///
/// Where several lcores share the key, the first bits of a number name the lcore, and the rest is
/// the lcore's own.
class FlowIdCode {
 public:
  /// The code of lcore `own` of `lcores`.
  explicit FlowIdCode(uint64_t key = 0, unsigned lcores = 1, unsigned own = 0)
      : before_(static_cast<uint32_t>(key)),
        after_(static_cast<uint32_t>(key >> 32)),
        lcores_(lcores),
        rest_bits_(32 - static_cast<unsigned>(std::bit_width(lcores - 1))),
        first_(static_cast<uint32_t>(uint64_t{own} << rest_bits_)) {}

  /// `number`: without the bits that name the lcore.
  [[nodiscard]] uint32_t id_of(uint32_t number) const {
    const auto rest = static_cast<uint32_t>(number & ((uint64_t{1} << rest_bits_) - 1));
    uint32_t x = ((first_ | rest) ^ before_) * kFirst;
    x = (x ^ x >> 16) * kSecond;
    return (x ^ x >> 16) ^ after_;
  }
  [[nodiscard]] uint32_t number_of(uint32_t id) const {
    uint32_t x = id ^ after_;
    x = (x ^ x >> 16) * inverse(kSecond);
    return ((x ^ x >> 16) * inverse(kFirst)) ^ before_;
  }

  /// The lcore that has given this id, or for an id of another key any lcore, always the same.
  [[nodiscard]] unsigned lcore_of(uint32_t id) const {
    return static_cast<unsigned>(uint64_t{number_of(id)} >> rest_bits_) % lcores_;
  }

 private:
  // Multipliers of MurmurHash3's finalizer (Appleby), chosen for avalanche.
  static constexpr uint32_t kFirst = 0x85ebca6b, kSecond = 0xc2b2ae35;
  /// Multiplicative inverse of an odd number modulo 2^32 (Newton's iteration doubles the number of
  /// correct bits).
  static constexpr uint32_t inverse(uint32_t odd) {
    uint32_t x = odd;
    for (int i = 0; i < 4; ++i) x *= 2 - odd * x;
    return x;
  }

  uint32_t before_, after_;
  unsigned lcores_, rest_bits_;
  uint32_t first_;  // bits of the lcore
};

}  // namespace turnpike::sender
