// SPDX-License-Identifier: BSD-3-Clause
// Packet buffers: offload flags, and allocation and release that touch only an mbuf's first cache
// line.
#pragma once

#include <cstdint>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

namespace turnpike {

/// RX flags of a frame whose checksums the port has verified.
inline constexpr uint64_t kSumsChecked = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;

/// Allocates a buffer for a frame of one segment without offloads; null if the pool is empty.
/// data_len is still that of its last frame: the caller writes lengths and bytes. Skips the mbuf's
/// second cache line, whose fields only chains and offloads need; buffers in a pool have them
/// reset.
inline rte_mbuf* take_buffer(rte_mempool* pool) {
  rte_mbuf* m = rte_mbuf_raw_alloc(pool);
  if (m == nullptr) return nullptr;
  m->ol_flags = 0;
  rte_pktmbuf_reset_headroom(m);
  return m;
}

/// Prefetches byte `at` of the frame of a buffer, which may be in no cache, without a look at the
/// mbuf: where the byte is if the frame begins after the headroom, and buffers have no private
/// area.
inline void prefetch_frame(const rte_mbuf* m, size_t at) {
  rte_prefetch0(reinterpret_cast<const char*>(m) + sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM + at);
}

/// rte_pktmbuf_free(), but faster for a direct buffer of one segment with one reference.
inline void give_back(rte_mbuf* m) {
  const bool plain = m->nb_segs == 1 && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
  plain ? rte_mbuf_raw_free(m) : rte_pktmbuf_free(m);
}

}  // namespace turnpike
