// SPDX-License-Identifier: BSD-3-Clause
// Packets of several segments: makes headers contiguous, cuts off padding.
#pragma once

#include <cstdint>

#include <rte_mbuf.h>

namespace turnpike::router {

/// Moves bytes from later segments to the first until it holds `want` bytes or the whole packet.
/// False, without changes, if the first segment is shared or has no room. rte_pktmbuf_linearize()
/// would need room for the whole packet.
bool join_front(rte_mbuf* m, uint32_t want);

/// Trims the packet to `length` B, at most pkt_len, and frees segments that become empty.
/// rte_pktmbuf_trim() shortens the last segment only.
void cut_to(rte_mbuf* m, uint32_t length);

}  // namespace turnpike::router
