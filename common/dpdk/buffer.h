// SPDX-License-Identifier: BSD-3-Clause
// What there is to know of packet buffers: flags, and taking and returning them by their first
// line.
#pragma once

#include <rte_mbuf.h>

namespace turnpike {

/// What a port that checks sums by itself says of a frame whose sums are right.
inline constexpr uint64_t kSumsChecked = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;

/// A buffer for a frame of one segment without offloads, or null when the pool is empty. Its
/// data_len is still that of its last frame; lengths and bytes are the caller's to write. The
/// mbuf's second line holds what only chains and offloads need, and the pool keeps it so.
inline rte_mbuf* take_buffer(rte_mempool* pool) {
  rte_mbuf* m = rte_mbuf_raw_alloc(pool);
  if (m == nullptr) return nullptr;
  m->ol_flags = 0;
  rte_pktmbuf_reset_headroom(m);
  return m;
}

/// What rte_pktmbuf_free() does, faster for a buffer that nobody shares.
inline void give_back(rte_mbuf* m) {
  const bool plain = m->nb_segs == 1 && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
  plain ? rte_mbuf_raw_free(m) : rte_pktmbuf_free(m);
}

}  // namespace turnpike
