// SPDX-License-Identifier: BSD-3-Clause
// A worker's tables, links, counters and buffers, which its stages share.
#pragma once

#include <vector>

#include <rte_mempool.h>

#include "common/metrics/counter.h"
#include "router/control/tables.h"
#include "router/datapath/burst.h"
#include "router/datapath/link/buffer_share.h"
#include "router/datapath/link/link_queue.h"
#include "router/datapath/local/token_bucket.h"

namespace turnpike::router {

class CustomerTable;
class Enforcement;
class MulticastState;
class PuntPath;
struct JoinedGroups;
class Probe;
class Trace;
class Tunnels;

/// One worker's counters that belong to no link. It writes, any thread reads.
struct alignas(64) WorkerCounters {
  metrics::Counter originated;         // packets built here: replies, errors, extra fragments
  metrics::Counter delivered;          // packets addressed to the router itself
  metrics::Counter suppressed_errors;  // ICMP errors not sent because of the rate limit
  metrics::Counter handed, taken;      // packets given to another worker, and taken from others
};

/// One worker's view of the router.
struct WorkerContext {
  unsigned index = 0;
  const Tables* tables = nullptr;  // changes at housekeeping only
  const Routes* routes = nullptr;  // changes between polls only
  std::vector<LinkQueue> queues;   // by link index
  rte_mempool* pool = nullptr;
  WorkerCounters* counters = nullptr;
  TokenBucket errors;  // rate of ICMP errors, RFC 1812 4.3.2.8
  BufferShare buffers;
  MulticastState* multicast = nullptr;       // null: no tree has a branch at this router
  Enforcement* enforcement = nullptr;        // null: customers' budgets are not enforced here
  const CustomerTable* customers = nullptr;  // null: no packet's customer matters here
  PuntPath* punt = nullptr;                  // null: the router is its own control plane
  const JoinedGroups* groups = nullptr;      // with `punt`; changes at housekeeping only
  const Probe* probe = nullptr;              // null: no trace and no capture
  Tunnels* tunnels = nullptr;                // null: no tunnel begins or ends here
  bool scarce = false;  // packet buffers are scarce: police() limits links in this poll

  /// Frees and counts a burst's dropped packets.
  void sweep(Burst& burst) {
    for_each(burst.dropped, [&](unsigned i) {
      const DropReason why = burst.reason[i];
      const PacketInfo& p = burst.info[i];
      queues[at_egress(why) ? p.link : p.input].drop(why);
      rte_pktmbuf_free(burst.mbufs[i]);
    });
    burst.dropped = 0;
  }
};

/// Shows the capture, if there is one, a burst's packets that sweep() frees next.
void show_dropped(const WorkerContext& context, const Burst& burst);

}  // namespace turnpike::router
