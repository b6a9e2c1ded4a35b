// SPDX-License-Identifier: BSD-3-Clause
// The Internet checksum: computed (RFC 1071) and updated after an edit (RFC 1624).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/wire/bytes.h"

namespace turnpike::wire {

/// Folds carries back to 32 bits; fold() of the result is the same.
constexpr uint32_t fold_to_32(uint64_t sum) {
  // A word added to itself with its halves swapped has their sum, carry included, in its high half.
  return static_cast<uint32_t>((sum + std::rotl(sum, 32)) >> 32);
}

/// Folds carries back to 16 bits: the one's complement sum. Only zero becomes zero.
constexpr uint16_t fold(uint64_t sum) {
  const uint32_t half = fold_to_32(sum);
  return static_cast<uint16_t>((half + std::rotl(half, 16)) >> 16);
}

inline constexpr size_t kSumBlock = 64;
/// Sum of the 32-bit words of `blocks` blocks of kSumBlock bytes, in host order, not folded.
uint64_t sum_blocks(const uint8_t* data, size_t blocks);

/// One's complement sum of big-endian 16-bit words, folded. An odd last byte counts as the high
/// half of a word (RFC 1071 section 4.1). Partial sums may be added before fold().
inline uint16_t sum_words(std::span<const uint8_t> data) {
  // Summing wider words in host order, carries beyond them included, and swapping once gives the
  // same (RFC 1071 section 2(B)).
  __extension__ unsigned __int128 words = 0;
  const uint8_t* p = data.data();
  size_t left = data.size();
  uint64_t blocks = 0;
  // Below that the call costs more cycles than the vectors save: 256 B take 23 without, 29 with it.
  if (left >= 6 * kSumBlock) {
    blocks = sum_blocks(p, left / kSumBlock);
    p += left / kSumBlock * kSumBlock;
    left %= kSumBlock;
  }
  const auto add_word = [&] {
    uint64_t word;
    std::memcpy(&word, p, sizeof word);
    words += word;
    p += sizeof word;
  };
  for (; left >= 32; left -= 32) {  // unrolled
    add_word();
    add_word();
    add_word();
    add_word();
  }
  for (; left >= 8; left -= 8) add_word();
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  const uint64_t sum = uint64_t{fold_to_32(static_cast<uint64_t>(words))} +
                       static_cast<uint64_t>(words >> 64) + fold_to_32(tail) + blocks;
  return __builtin_bswap16(fold(sum));
}

/// Whether the 16-bit words of `Bytes` bytes (a multiple of four) sum to 0xffff, as data with a
/// correct checksum does. In host order: 0xffff is the same in both orders (RFC 1071 section 2(B)).
template <size_t Bytes>
bool sums_to_ones(const uint8_t* data) {
  static_assert(Bytes % 4 == 0);
  uint64_t sum = 0;
  for (size_t at = 0; at < Bytes; at += 4) {
    uint32_t word;
    std::memcpy(&word, data + at, sizeof word);
    sum += word;  // two 16-bit words, which fold() adds
  }
  return fold(sum) == 0xffff;
}

/// One's complement sum, not folded, of a multiple of four bytes that may just have been written
/// word by word.
inline uint64_t sum_of_words(std::span<const uint8_t> data) {
  uint64_t sum = 0;
  for (size_t at = 0; at < data.size(); at += sizeof(uint32_t)) {
    uint32_t word = load_be32(data.data() + at);
    // Prevents wider loads, which would stall until all these stores are done.
    __asm__("" : "+r"(word));
    sum += word;  // two 16-bit words, which fold() adds
  }
  return sum;
}

/// A sum over data in pieces of any lengths (the segments of a packet).
class PiecewiseSum {
 public:
  void add(std::span<const uint8_t> piece) {
    const uint16_t s = sum_words(piece);
    // In a piece that starts at an odd offset, bytes are in the other halves of the words.
    sum_ += odd_ ? __builtin_bswap16(s) : s;
    odd_ ^= (piece.size() & 1) != 0;
  }
  [[nodiscard]] uint16_t folded() const { return fold(sum_); }

 private:
  uint64_t sum_ = 0;
  bool odd_ = false;
};

/// Sum of the IPv4 pseudo-header (RFC 768); `length` is that of the transport header and data, B.
inline uint32_t pseudo_header_sum(uint32_t source, uint32_t destination, uint8_t protocol,
                                  uint16_t length) {
  return (source >> 16) + (source & 0xffff) + (destination >> 16) + (destination & 0xffff) +
         protocol + length;
}
/// The same for IPv6 (RFC 8200 section 8.1); both addresses are 16 bytes in network order.
inline uint32_t pseudo_header_sum(const uint8_t* source, const uint8_t* destination,
                                  uint8_t protocol, uint32_t length) {
  return uint32_t{sum_words({source, 16})} + sum_words({destination, 16}) + protocol +
         (length >> 16) + (length & 0xffff);
}

/// The checksum with which all words sum to 0xffff.
constexpr uint16_t checksum_of(uint64_t sum) { return static_cast<uint16_t>(~fold(sum)); }
/// UDP's: a computed zero is sent as 0xffff, since zero means "none" (RFC 768, RFC 8200 8.1).
constexpr uint16_t udp_checksum_of(uint64_t sum) {
  const uint16_t c = checksum_of(sum);
  return c == 0 ? 0xffff : c;
}

/// RFC 1624 equation 3: HC' = ~(~HC + ~m + m'), where m and m' are the sums of the same bytes (an
/// even range) before and after the edit, below 2^32 each. Equals recomputation, never gives the
/// "negative zero". All arguments in network order, or all in host order.
constexpr uint16_t update_checksum(uint16_t checksum, uint32_t before, uint32_t after) {
  return checksum_of(uint64_t{static_cast<uint16_t>(~checksum)} + static_cast<uint32_t>(~before) +
                     after);
}
/// The same for UDP: an absent checksum (zero) stays absent, and a computed zero becomes 0xffff, as
/// in RFC 1624's equation 4: HC' = HC - ~m - m', where -x is ~x. Sums are below 2^48, not folded.
constexpr uint16_t update_udp_checksum(uint16_t checksum, uint64_t before, uint64_t after) {
  constexpr uint64_t kOnes = (uint64_t{1} << 48) - 1;
  return checksum == 0 ? 0 : fold(checksum + before + (kOnes - after));
}

/// Decrements the TTL at `ttl`, which is at least 1, and updates the IPv4 header's checksum: RFC
/// 1624 with m' = m - 0x0100, so the checksum grows by that. Read in host order it grows by one.
inline void decrement_ttl(uint8_t* ttl) {
  constexpr uint32_t kOne = 1U << 16;
  uint32_t word;  // TTL, protocol and checksum from the lowest bits up
  std::memcpy(&word, ttl, sizeof word);
  word += kOne - 1;
  // The carry of 0x10000, and of 0xffff, a "negative zero".
  if (word + kOne < 2 * kOne) [[unlikely]]
    word += kOne;
  std::memcpy(ttl, &word, sizeof word);
}

}  // namespace turnpike::wire
