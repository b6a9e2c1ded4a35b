// SPDX-License-Identifier: BSD-3-Clause
// The packets of one tunnel that wait at the ingress: fair between hosts and between the flows of a
// host, with CoDel in each flow's queue.
#pragma once

#include <cstdint>

#include "common/metrics/counter.h"
#include "router/gateway/queue_pool.h"

namespace turnpike::gateway {

/// Two levels of deficit round robin (RFC 8290 section 4.2 is one level of it): a host's share does
/// not depend on its number of flows. Hosts and flows that have just become active go first, once.
/// Those that come back in the same round, after they had nothing to send, go before all others
/// with the rest of their quantum (DRR++, MacGregor and Shi 2000): a flow below its share waits for
/// no round. Each flow has a queue of its own: in another flow's, CoDel may drop its only packet,
/// such as a SYN.
class FairQueue {
 public:
  static constexpr int32_t kQuantum = 1514;  // B, a full Ethernet frame (RFC 8290 section 5.2.4)

  /// `tunnel`: its number, the same for no other queue of the pool, which outlives the queue.
  FairQueue(QueuePool& pool, uint32_t tunnel) : pool_(pool), tunnel_(tunnel) {}
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  /// Takes ownership of a packet. `host`, `flow`: hashes of its source and of its five-tuple;
  /// `limit`: B that may wait. Drops it, or a packet of the fullest flow instead, if there is no
  /// room.
  void put(rte_mbuf* packet, uint32_t host, uint32_t flow, uint64_t limit, Nanos now);

  /// Takes the next packet; null: none waits. CoDel drops packets on the way, or marks those whose
  /// flow knows ECN.
  rte_mbuf* take(const CodelParams& params, Nanos now);

  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] uint32_t packets() const { return packets_; }
  /// Packets dropped, and marked instead. Any thread.
  [[nodiscard]] uint64_t dropped() const { return dropped_.read(); }
  [[nodiscard]] uint64_t marked() const { return marked_.read(); }
  /// How long the packet waited that take() returned last.
  [[nodiscard]] Nanos sojourn() const { return sojourn_; }

 private:
  rte_mbuf* take_of(HostQueue& host, const CodelParams& params, Nanos now);
  rte_mbuf* take_of(FlowQueue& flow, const CodelParams& params, Nanos now);
  rte_mbuf* pop(FlowQueue& flow, Nanos now);
  void drop_from_fullest(Nanos now);

  QueuePool& pool_;
  Round round_;  // HostQueue
  uint64_t bytes_ = 0;
  metrics::Counter dropped_, marked_;
  Nanos sojourn_{0};
  uint32_t packets_ = 0;
  uint32_t tunnel_;
  uint32_t fullest_ = kNone;  // a flow with many bytes: the fullest when it got its last packet
};

}  // namespace turnpike::gateway
