// SPDX-License-Identifier: BSD-3-Clause
// Updates a packet's UDP checksum over the header bytes that a law rewrote (RFC 1624).
#pragma once

#include <cstdint>
#include <cstring>

#include "common/protocols/link_law.h"
#include "common/wire/checksum.h"
#include "common/wire/layers.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::router {

namespace checksum_range {

/// In host order: one's complement sums do not depend on byte order (RFC 1071 section 2(B)).
inline uint32_t word_at(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// Sum of `Words` 32-bit words, not folded. Loads each separately: the law may just have stored
/// some.
template <size_t Words>
uint64_t sum_of_words(const uint8_t* bytes) {
  uint64_t sum = word_at(bytes);
  for (size_t w = 1; w < Words; ++w) sum += word_at(bytes + w * sizeof(uint32_t));
  return sum;
}

/// Sum of any range; of prices and money, 24 B, without a loop. Not inline: longer code for links
/// that audit costs the others cycles.
[[gnu::noinline]] inline uint64_t sum_of_any(const uint8_t* congestion, HeaderRange r) {
  if (r.end - r.begin == 24) [[likely]]
    return sum_of_words<6>(congestion + r.begin);
  return __builtin_bswap16(
      wire::sum_words({congestion + r.begin, static_cast<size_t>(r.end - r.begin)}));
}

}  // namespace checksum_range

/// Returns f(sum), where sum(congestion) is the one's complement sum of the range in a congestion
/// header, not folded. The common widths need no loop.
template <class F>
auto with_sum(HeaderRange r, F&& f) {
  const uint8_t at = r.begin;
  switch (r.end - r.begin) {
    case 4:
      return f([at](const uint8_t* congestion) {
        return checksum_range::sum_of_words<1>(congestion + at);
      });
    case 12:
      return f([at](const uint8_t* congestion) {
        return checksum_range::sum_of_words<3>(congestion + at);
      });
    default:
      return f(
          [r](const uint8_t* congestion) { return checksum_range::sum_of_any(congestion, r); });
  }
}

/// The sum of the range in this congestion header.
inline uint64_t sum_of(const uint8_t* congestion, HeaderRange r) {
  return with_sum(r, [congestion](auto sum) { return sum(congestion); });
}

/// Updates the UDP checksum of the packet whose congestion header this is, from the sums of the
/// rewritten range before and after.
inline void update_checksum(uint8_t* congestion, uint64_t before, uint64_t after) {
  uint8_t* at = congestion - wire::kHeaderSize - wire::kUdpSize + wire::kUdpChecksumAt;
  uint16_t sum;
  std::memcpy(&sum, at, sizeof sum);
  sum = wire::update_udp_checksum(sum, before, after);
  std::memcpy(at, &sum, sizeof sum);
}

/// Hash of a packet's flow: its Turnpike flow id, its ports, and the IPv4 source address or a part
/// of the IPv6 destination, so that first flows of two senders differ.
inline uint32_t flow_hash(const uint8_t* congestion) {
  const uint8_t* common = congestion - wire::kHeaderSize;
  const uint8_t* udp = common - wire::kUdpSize;
  const uint32_t ends = wire::load_be32(udp - 8) * 2654435761U ^ wire::load_be32(udp) * 2246822519U;
  return ends ^ wire::load_be32(common + wire::kFlowAt);
}

}  // namespace turnpike::router
