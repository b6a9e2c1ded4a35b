// SPDX-License-Identifier: BSD-3-Clause
// The Internet checksum: computed (RFC 1071) and mended after an edit (RFC 1624).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/wire/bytes.h"

namespace turnpike::wire {

/// Folds carries back in as far as 32 bits: what fold() makes of it stays the same.
constexpr uint32_t fold_to_32(uint64_t sum) {
  // A word added to itself with its halves swapped has their sum, carry included, in its high half.
  return static_cast<uint32_t>((sum + std::rotl(sum, 32)) >> 32);
}

/// Folds carries back in: the 16-bit one's complement sum that `sum` stands for. Zero stays zero
/// and nothing else becomes zero.
constexpr uint16_t fold(uint64_t sum) {
  const uint32_t half = fold_to_32(sum);
  return static_cast<uint16_t>((half + std::rotl(half, 16)) >> 16);
}

/// One's complement sum of big-endian 16-bit words, folded. An odd last byte counts as the high
/// half of a word (RFC 1071 section 4.1). Partial sums may simply be added up before fold().
inline uint16_t sum_words(std::span<const uint8_t> data) {
  // Summing 32-bit words in host order and swapping once gives the same (RFC 1071 section 2(B)).
  uint64_t sum = 0;
  const uint8_t* p = data.data();
  size_t left = data.size();
  for (; left >= 4; p += 4, left -= 4) {
    uint32_t word;
    std::memcpy(&word, p, sizeof word);
    sum += word;
  }
  uint32_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  return __builtin_bswap16(fold(sum + tail));
}

/// Whether the words of so many bytes, a multiple of four, sum to 0xffff: as all do that have a
/// right checksum among them. In host order, for a sum of ones is one in either (RFC 1071 section
/// 2(B)).
template <size_t Bytes>
bool sums_to_ones(const uint8_t* data) {
  static_assert(Bytes % 4 == 0);
  uint64_t sum = 0;
  for (size_t at = 0; at < Bytes; at += 4) {
    uint32_t word;
    std::memcpy(&word, data + at, sizeof word);
    sum += word;  // its halves are two words, and fold() adds them up
  }
  return fold(sum) == 0xffff;
}

/// One's complement sum of any multiple of four bytes, to be folded, which may just have been
/// written word by word.
inline uint64_t sum_of_words(std::span<const uint8_t> data) {
  uint64_t sum = 0;
  for (size_t at = 0; at < data.size(); at += sizeof(uint32_t)) {
    uint32_t word = load_be32(data.data() + at);
    // Keeps the compiler from wider loads, which would wait until all these stores are done.
    __asm__("" : "+r"(word));
    sum += word;  // its halves are two words of the checksum, and fold() adds them up
  }
  return sum;
}

/// A sum over data that lies in pieces, each of any length (the segments of a packet).
class PiecewiseSum {
 public:
  void add(std::span<const uint8_t> piece) {
    const uint16_t s = sum_words(piece);
    // A piece that starts at an odd offset has its bytes in the other halves of the words.
    sum_ += odd_ ? __builtin_bswap16(s) : s;
    odd_ ^= (piece.size() & 1) != 0;
  }
  [[nodiscard]] uint16_t folded() const { return fold(sum_); }

 private:
  uint64_t sum_ = 0;
  bool odd_ = false;
};

/// What UDP and TCP add from IPv4 (RFC 768); `length` is that of the transport header and data.
inline uint32_t pseudo_header_sum(uint32_t source, uint32_t destination, uint8_t protocol,
                                  uint16_t length) {
  return (source >> 16) + (source & 0xffff) + (destination >> 16) + (destination & 0xffff) +
         protocol + length;
}
/// The same from IPv6 (RFC 8200 section 8.1); both addresses are 16 bytes as on the wire.
inline uint32_t pseudo_header_sum(const uint8_t* source, const uint8_t* destination,
                                  uint8_t protocol, uint32_t length) {
  return uint32_t{sum_words({source, 16})} + sum_words({destination, 16}) + protocol +
         (length >> 16) + (length & 0xffff);
}

/// The checksum that makes everything sum to 0xffff.
constexpr uint16_t checksum_of(uint64_t sum) { return static_cast<uint16_t>(~fold(sum)); }
/// UDP's: a computed zero is sent as 0xffff, for zero says "none" (RFC 768, RFC 8200 8.1).
constexpr uint16_t udp_checksum_of(uint64_t sum) {
  const uint16_t c = checksum_of(sum);
  return c == 0 ? 0xffff : c;
}

/// RFC 1624 equation 3: HC' = ~(~HC + ~m + m'), where m and m' are the sums of the same bytes
/// (an even range) before and after the edit, below 2^32 each. Equals recomputation, never the
/// "negative zero". All in network order, or all in host order.
constexpr uint16_t update_checksum(uint16_t checksum, uint32_t before, uint32_t after) {
  return checksum_of(uint64_t{static_cast<uint16_t>(~checksum)} + static_cast<uint32_t>(~before) +
                     after);
}
/// The same for UDP: an absent checksum (zero) stays absent, a computed zero becomes 0xffff, as
/// RFC 1624's equation 4 makes of it: HC' = HC - ~m - m', where -x is ~x.
constexpr uint16_t update_udp_checksum(uint16_t checksum, uint32_t before, uint32_t after) {
  return checksum == 0 ? 0 : fold(uint64_t{checksum} + before + static_cast<uint32_t>(~after));
}

/// Mends the IPv4 header checksum at `checksum` after one was taken from the TTL: RFC 1624 where m'
/// is m less 0x0100, so the checksum grows by that. In host order it grows by one.
inline void ttl_taken(uint8_t* checksum) {
  uint16_t c;
  std::memcpy(&c, checksum, sizeof c);
  const uint32_t sum = uint32_t{c} + 1;
  c = static_cast<uint16_t>(sum + (sum >= 0xffff ? 1 : 0));
  std::memcpy(checksum, &c, sizeof c);
}

}  // namespace turnpike::wire
