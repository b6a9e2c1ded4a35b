// SPDX-License-Identifier: BSD-3-Clause
// Packets over several segments: headers made contiguous, padding cut off.
#pragma once

#include <cstdint>

#include <rte_mbuf.h>

namespace turnpike::router {

/// Moves bytes from later segments into the first until `want` bytes (or the whole packet) lie
/// there. False where the first segment is shared or has no room: nothing was changed then.
bool join_front(rte_mbuf* m, uint32_t want);

/// Cuts the packet to `length` bytes, over segment borders; length <= pkt_len.
void cut_to(rte_mbuf* m, uint32_t length);

}  // namespace turnpike::router
