// SPDX-License-Identifier: BSD-3-Clause
// Takes the datagrams out of a tunnel's packet.
#pragma once

#include <cstdint>

#include <rte_mbuf.h>

#include "common/wire/layers.h"
#include "router/gateway/packet_queue.h"

struct rte_mempool;

namespace turnpike::gateway {

/// Of a frame that was encrypted in its tunnel. It comes by a core link again if it has waited for
/// its neighbour's address.
inline constexpr uint64_t kOpened = RTE_MBUF_F_RX_SEC_OFFLOAD;

struct Released {
  uint32_t packets = 0, bytes = 0;  // datagrams put into the queue, and their bytes
  uint32_t unmarkable = 0;          // dropped: marked in the core, and not ECN-capable (RFC 6040)
  uint32_t no_buffer = 0;           // dropped: no buffer was free, or the queue was full
  bool bad = false;                 // the payload, or its rest, is no datagram
};

/// Takes ownership of `m`, one segment, whose payload of `size` B at offset `at` is a sequence of
/// IP datagrams, and puts them into `out` as frames to a station of this MAC. `ecn`: ECN field of
/// the tunnel's packet. `flags`: offload flags of the frames, 0 or kOpened.
Released release(rte_mbuf* m, uint32_t at, uint32_t size, uint8_t ecn, const wire::Mac& station,
                 rte_mempool* pool, PacketQueue& out, uint64_t flags = 0);

}  // namespace turnpike::gateway
