// SPDX-License-Identifier: BSD-3-Clause
// First stage: receives a burst from one of the worker's queues.
#pragma once

#include <rte_prefetch.h>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/link/link_queue.h"

namespace turnpike::router {

/// Receives a burst from `port`, the worker's queue pair at link `link`, and prefetches its
/// headers. All packets start in `forward`. Returns their number; 0 leaves the burst as it was.
inline unsigned rx(Burst& burst, QueuePair& port, unsigned link, Nanos now) {
  const unsigned n = port.rx(now, std::span(burst.mbufs));
  if (n == 0) return 0;
  burst.begin(n, link, now);
  for (unsigned i = 0; i < n; ++i) rte_prefetch0(frame_of(burst.mbufs[i]));
  return n;
}

/// Counts a received burst in its link's `queue`, bytes as the link's capacity counts them. Call
/// after parse(), which knows the sizes without padding and tags.
inline void count_received(const Burst& burst, LinkQueue& queue) {
  queue.count_received(burst.count, burst.bytes + uint64_t{burst.count} * queue.overhead());
}

}  // namespace turnpike::router
