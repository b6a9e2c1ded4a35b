// SPDX-License-Identifier: BSD-3-Clause
// Packets of several segments: makes headers contiguous, cuts off padding.
#pragma once

#include <cstdint>

#include <rte_mbuf.h>

namespace turnpike::router {

/// Moves bytes from later segments to the first until it holds `want` bytes or the whole packet.
/// False, without changes, if the first segment is shared or has no room.
bool join_front(rte_mbuf* m, uint32_t want);

/// Cuts the packet to `length` B, which is at most pkt_len.
void cut_to(rte_mbuf* m, uint32_t length);

}  // namespace turnpike::router
