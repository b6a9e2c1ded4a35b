// SPDX-License-Identifier: BSD-3-Clause
// A customer's packets of one class for one peer: their queue, and the flow that carries them.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "common/metrics/counter.h"
#include "common/metrics/histogram.h"
#include "router/gateway/customer_traffic.h"
#include "router/gateway/demand.h"
#include "router/gateway/fair_queue.h"
#include "router/gateway/peers.h"
#include "router/gateway/seal.h"
#include "router/gateway/totals.h"
#include "sender/transmission/datagram_source.h"

struct rte_mempool;

namespace turnpike::gateway {

/// Parts that the tunnels of a gateway share.
struct TunnelParts {
  QueuePool& queues;
  metrics::SharedHistogram& waits;  // ns, of datagrams that are carried
  rte_mempool* pool = nullptr;      // of buffers for headers that a packet's own has no room for
  CodelParams codel;
  uint64_t limit = 0;    // B that may wait
  uint32_t headers = 0;  // B of a packet beside its datagrams: headers and, if it is sealed, those
  Seal* seal = nullptr;  // null: packets go in the clear
  GatewayTotals& totals;
};

/// A tunnel of a gateway: its number, and indices of what it belongs to.
struct TunnelPlace {
  uint32_t number = 0;  // of no other tunnel of the gateway
  uint32_t customer = 0;
  uint32_t class_index = 0;  // class of its packets
  uint32_t peer = 0;
};

/// Owned by one lcore.
class Tunnel final : public sender::DatagramSource {
 public:
  /// `parts`, `traffic`, the customer's, and `to` outlive it.
  Tunnel(TunnelParts& parts, CustomerTraffic& traffic, const Peer& to, const TunnelPlace& place)
      : parts_(parts),
        traffic_(traffic),
        to_(to),
        queue_(parts.queues, place.number),
        place_(place) {
    set_sealed(parts.seal != nullptr);
  }
  ~Tunnel() override { clear(); }

  /// Takes ownership of an IP datagram. `host`, `flow`: as in FairQueue::put().
  void put(rte_mbuf* packet, uint32_t host, uint32_t flow, Nanos now);

  Taken take(uint32_t room, uint16_t headers, Nanos now) override;
  bool seal(std::span<uint8_t> payload, const Headers& headers) override;
  void sent(uint32_t size, double price) override { traffic_.prices.record(price, size); }

  [[nodiscard]] const FairQueue& queue() const { return queue_; }
  [[nodiscard]] uint32_t number() const { return place_.number; }
  [[nodiscard]] uint32_t customer() const { return place_.customer; }
  [[nodiscard]] uint32_t class_index() const { return place_.class_index; }
  [[nodiscard]] uint32_t peer() const { return place_.peer; }
  [[nodiscard]] Nanos last_packet() const { return last_packet_; }

  /// B of datagrams that left the queue for the core. Any thread.
  [[nodiscard]] uint64_t carried() const { return carried_.read(); }

  /// Drops all packets that wait; returns their number.
  uint32_t clear();

  /// B/s that the packets would use now, were there no ceiling.
  [[nodiscard]] double wanted(Nanos now) const {
    return arrivals_.used(static_cast<double>(waiting()), now);
  }
  /// The flow demands this many B/s at most.
  void set_most(double rate) { most_ = rate; }
  /// Whether packets wait that this bound holds back. Any thread.
  [[nodiscard]] bool at_most() const { return at_most_.load(std::memory_order_relaxed); }

  uint32_t flow = 0;      // id of the flow that carries the packets; 0: none was ever open
  bool ready = false;     // among the tunnels whose flows the gateway looks at in this poll
  bool revalued = false;  // the customer's budget has changed since the last packet was sent

 private:
  rte_mbuf* with_room(rte_mbuf* packet, uint16_t headers);
  rte_mbuf* with_seal(rte_mbuf* packet, uint16_t headers);
  void count_taken(uint32_t size);
  void add_small(rte_mbuf& first, uint8_t ecn, uint32_t room, Nanos now);
  void update(Nanos now);

  TunnelParts& parts_;
  CustomerTraffic& traffic_;
  const Peer& to_;
  FairQueue queue_;
  Demand arrivals_;
  double most_ = std::numeric_limits<double>::infinity();
  std::atomic<bool> at_most_{false};
  metrics::Counter carried_;  // B
  Nanos last_packet_{0};
  TunnelPlace place_;
};

}  // namespace turnpike::gateway
