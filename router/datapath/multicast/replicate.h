// SPDX-License-Identifier: BSD-3-Clause
// Copies of a packet for the branches of a tree.
#pragma once

#include <cstdint>

#include <rte_mbuf.h>

namespace turnpike::router {

/// A packet with its own first `front` bytes, at most those of the first segment; the rest refers
/// to the data of `m`, whose reference counts rise. Null: no buffer is free.
rte_mbuf* copy_front(rte_mbuf& m, uint16_t front, rte_mempool* pool);

}  // namespace turnpike::router
