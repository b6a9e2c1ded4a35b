// SPDX-License-Identifier: BSD-3-Clause
// The packets of one tunnel that wait at the ingress: fair between hosts and between the flows of a
// host, with CoDel in each flow's queue.
#pragma once

#include <cstdint>
#include <utility>

#include "common/metrics/counter.h"
#include "router/gateway/queue_pool.h"

namespace turnpike::gateway {

/// Bounds of a packet.
struct Fit {
  static constexpr uint8_t kAnyEcn = 0xff;
  uint32_t size = UINT32_MAX;  // B, at most
  uint8_t ecn = kAnyEcn;       // ECN field of its IP header
};

/// Two levels of deficit round robin (RFC 8290 section 4.2 is one level of it): a host's share does
/// not depend on its number of flows. Hosts and flows that have just become active go first, once.
/// Those that come back in the same round, after they had nothing to send, go before all others
/// with the rest of their quantum (DRR++, MacGregor and Shi 2000): a flow below its share waits for
/// no round. Of both, those with a small packet go first. Each flow has a queue of its own: in
/// another flow's, CoDel may drop its only packet, such as a SYN. A packet that comes while nothing
/// waits gets a place in the rounds only when a second one comes.
class FairQueue {
 public:
  static constexpr int32_t kQuantum = 1514;  // B, a full Ethernet frame (RFC 8290 section 5.2.4)
  static constexpr uint32_t kSmall = 512;    // B, at most, of a small packet

  /// `tunnel`: its number, the same for no other queue of the pool, which outlives the queue.
  FairQueue(QueuePool& pool, uint32_t tunnel) : pool_(pool), tunnel_(tunnel) {}
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  /// Takes ownership of a packet. `host`, `flow`: hashes of its source and of its five-tuple;
  /// `limit`: B that may wait. Drops it, or a packet of the fullest flow instead, if there is no
  /// room.
  void put(rte_mbuf* packet, uint32_t host, uint32_t flow, uint64_t limit, Nanos now);

  /// Takes the next packet; null: none waits, or the next one does not fit. CoDel drops packets on
  /// the way, or marks those whose flow knows ECN.
  rte_mbuf* take(const CodelParams& params, Nanos now, Fit fit = {}) {
    return round_.empty() ? take_alone(now, fit) : take_in_turn(params, now, fit);
  }

  /// Drops all packets; returns their number.
  uint32_t clear();

  /// Whether nothing waits, and no host or flow has a place in a round.
  [[nodiscard]] bool idle() const { return packets_ == 0 && round_.empty(); }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] uint32_t packets() const { return packets_; }
  /// Packets of at most kSmall B among them.
  [[nodiscard]] uint32_t small() const { return small_; }
  /// Small packets among them that came to an empty queue of a flow below its share.
  [[nodiscard]] uint32_t urgent() const { return urgent_; }
  /// Packets dropped, and marked instead. Any thread.
  [[nodiscard]] uint64_t dropped() const { return dropped_.read(); }
  [[nodiscard]] uint64_t marked() const { return marked_.read(); }
  /// How long the packet waited that take() returned last.
  [[nodiscard]] Nanos sojourn() const { return sojourn_; }

 private:
  struct Taken {
    rte_mbuf* packet = nullptr;
    bool unfit = false;  // the next packet stays
  };
  template <class Pool, class Take>
  static Taken serve_back(Pool& pool, List& back, Take&& take);
  template <class Pool, class Take>
  static Taken serve(Pool& pool, Round& round, Take&& take);
  Taken take_of(FlowQueue& flow, const CodelParams& params, Nanos now, Fit fit);
  // A packet without a place in the rounds.
  struct Alone {
    uint32_t packet = kNone;      // Waiting
    uint32_t host = 0, flow = 0;  // hashes
  };
  template <class Pool, class Take>
  static void reclaim(Pool& pool, Round& round, Take&& take);
  void place(const Alone& packet);
  rte_mbuf* release(uint32_t waiting, Nanos now);
  rte_mbuf* pop(FlowQueue& flow, Nanos now);
  rte_mbuf* pop_alone(Nanos now) { return release(std::exchange(alone_.packet, kNone), now); }
  rte_mbuf* take_alone(Nanos now, Fit fit);
  rte_mbuf* take_in_turn(const CodelParams& params, Nanos now, Fit fit);
  bool drop_from_fullest(Nanos now);
  void reclaim_after(uint32_t host);

  QueuePool& pool_;
  Round round_;  // HostQueue
  uint64_t bytes_ = 0;
  metrics::Counter dropped_, marked_;
  Nanos sojourn_{0};
  uint32_t packets_ = 0, small_ = 0, urgent_ = 0;
  uint32_t tunnel_;
  Alone alone_;  // the only packet, if it came while nothing waited
  // A flow with packets, and many bytes: the fullest when it got its last packet.
  uint32_t fullest_ = kNone;
};

}  // namespace turnpike::gateway
