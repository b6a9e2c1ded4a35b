// SPDX-License-Identifier: BSD-3-Clause
// First stage: receives a burst from one of the worker's queues.
#pragma once

#include <rte_prefetch.h>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/link/link_queue.h"

namespace turnpike::router {

/// Receives a burst from `port`, the worker's queue pair at link `link`, counts it in the link's
/// `queue`, and prefetches its headers. All packets start in `forward`. Returns their number.
inline unsigned rx(Burst& burst, QueuePair& port, unsigned link, LinkQueue& queue, Nanos now) {
  const unsigned n = port.rx(now, std::span(burst.mbufs));
  burst.begin(n, link, now);
  if (n == 0) return 0;
  uint64_t bytes = 0;
  for (unsigned i = 0; i < n; ++i) {
    bytes += burst.mbufs[i]->pkt_len;
    rte_prefetch0(frame_of(burst.mbufs[i]));
  }
  queue.count_received(n, bytes);
  return n;
}

}  // namespace turnpike::router
