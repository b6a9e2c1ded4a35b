// SPDX-License-Identifier: BSD-3-Clause
// Sums and copies over packets of any number of segments.
#pragma once

#include <algorithm>

#include <rte_mbuf.h>

#include "common/wire/checksum.h"

namespace turnpike::router {

/// Calls f(span) for each piece of `length` B from `offset`, which lie within the packet.
template <class F>
inline void for_each_piece(const rte_mbuf& m, uint32_t offset, uint32_t length, F&& f) {
  for (const rte_mbuf* s = &m; s != nullptr && length > 0; s = s->next) {
    if (offset >= s->data_len) {
      offset -= s->data_len;
      continue;
    }
    const uint32_t n = std::min<uint32_t>(length, s->data_len - offset);
    f(std::span<const uint8_t>(rte_pktmbuf_mtod_offset(s, const uint8_t*, offset), n));
    length -= n;
    offset = 0;
  }
}

/// One's complement sum of a part of a packet.
inline uint16_t sum_of_packet(const rte_mbuf& m, uint32_t offset, uint32_t length) {
  wire::PiecewiseSum sum;
  for_each_piece(m, offset, length, [&](std::span<const uint8_t> piece) { sum.add(piece); });
  return sum.folded();
}

/// Copies `length` B from `offset`, which lie within the packet.
inline void copy_from_packet(const rte_mbuf& m, uint32_t offset, uint32_t length, uint8_t* out) {
  for_each_piece(m, offset, length, [&](std::span<const uint8_t> piece) {
    out = std::copy(piece.begin(), piece.end(), out);
  });
}

}  // namespace turnpike::router
