// SPDX-License-Identifier: BSD-3-Clause
// Packets of tests and fuzz targets, in one buffer or several.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <rte_mbuf.h>

namespace turnpike::testing {

/// The bytes in buffers of the pool of at most `segment` B each, at least 1; null: the pool is
/// empty, or the chain would be too long.
inline rte_mbuf* mbuf_chain(rte_mempool* pool, std::span<const uint8_t> bytes,
                            size_t segment = SIZE_MAX) {
  rte_mbuf* first = nullptr;
  do {
    rte_mbuf* m = rte_pktmbuf_alloc(pool);
    if (m == nullptr || (first != nullptr && rte_pktmbuf_chain(first, m) != 0)) {
      rte_pktmbuf_free(m);
      rte_pktmbuf_free(first);
      return nullptr;
    }
    if (first == nullptr) first = m;
    const size_t n = std::min({bytes.size(), segment, size_t{rte_pktmbuf_tailroom(m)}});
    if (n > 0) std::memcpy(rte_pktmbuf_append(first, static_cast<uint16_t>(n)), bytes.data(), n);
    bytes = bytes.subspan(n);
  } while (!bytes.empty());
  return first;
}

}  // namespace turnpike::testing
