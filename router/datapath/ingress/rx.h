// SPDX-License-Identifier: BSD-3-Clause
// First stage: receives a burst from one of the worker's queues.
#pragma once

#include <rte_prefetch.h>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/link/link_queue.h"

namespace turnpike::router {

/// Receives a burst from `port`, the worker's queue pair at link `link`, counts its packets in the
/// link's `queue`, and prefetches their headers. All packets start in `forward`. Returns their
/// number.
inline unsigned rx(Burst& burst, QueuePair& port, unsigned link, LinkQueue& queue, Nanos now) {
  const unsigned n = port.rx(now, std::span(burst.mbufs));
  burst.begin(n, link, now);
  for (unsigned i = 0; i < n; ++i) rte_prefetch0(frame_of(burst.mbufs[i]));
  if (n > 0) queue.count_received(n);
  return n;
}

/// Counts the bytes of a received burst in its link's `queue`, as the link's capacity counts them.
/// Call after parse(), which knows the sizes without padding and tags.
inline void count_bytes(const Burst& burst, LinkQueue& queue) {
  queue.count_received_bytes(burst.bytes + uint64_t{burst.count} * queue.overhead());
}

}  // namespace turnpike::router
