// SPDX-License-Identifier: BSD-3-Clause
// Packets that wait until Linux has resolved the MAC address of their neighbour.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "common/config/topology.h"
#include "common/metrics/counter.h"
#include "router/datapath/burst.h"

namespace turnpike::router {

/// Asks the control thread to have a neighbour resolved.
struct NeighbourRequest {
  config::Ipv6 destination{};  // of a packet that waits; IPv4 as ::ffff:a.b.c.d
  uint32_t link = 0;           // by which it leaves, index among the router's links
  uint32_t hop = 0;  // NextHop::id: its gateway, if it has one, is the neighbour to resolve
};

/// One worker's queue, of bounded size: kTotal packets in all, kPerNeighbour for one destination
/// (or for several that share a hash). The worker asks the kernel by a ring and looks again every
/// kInterval, because it must neither make a system call nor wait.
///
/// Packets are held here, not sent through Linux, although the kernel has such a queue of its own:
/// it would have to forward (ip_forward), and what it forwards leaves without a price.
class NeighbourQueue {
 public:
  static constexpr unsigned kTotal = 1000, kPerNeighbour = 4;
  static constexpr Nanos kTimeout = 1_s, kInterval = 5_ms;
  static constexpr unsigned kRequests = 1023;

  struct Waiting {
    rte_mbuf* mbuf = nullptr;
    Nanos since{0};
    PacketInfo info;  // `hop` is invalid: tables change meanwhile
    config::Ipv6 destination{};
  };

  /// Null: no memory.
  static std::unique_ptr<NeighbourQueue> make(int socket);
  ~NeighbourQueue();
  NeighbourQueue(const NeighbourQueue&) = delete;
  NeighbourQueue& operator=(const NeighbourQueue&) = delete;

  // --- the worker
  /// Takes ownership of a packet and requests its neighbour. False: too many packets wait, or too
  /// many requests; the caller keeps the packet.
  bool add(rte_mbuf* m, const PacketInfo& p, Nanos now);
  /// Whether it is time for update().
  [[nodiscard]] bool due(Nanos now) const { return count_ > 0 && now >= next_; }
  /// Time of the next update(); kNever: no packet waits.
  [[nodiscard]] Nanos next() const { return count_ > 0 ? next_ : kNever; }
  /// Calls f(packet) for every packet in order of arrival. Packets for which it returns true are
  /// the caller's, the others keep waiting.
  template <class F>
  void update(Nanos now, F&& f) {
    next_ = now + kInterval;
    unsigned kept = 0;
    for (unsigned i = 0; i < count_; ++i) {
      const Waiting& w = slots_[i];
      if (!f(w)) {
        if (kept != i) slots_[kept] = w;
        ++kept;
        continue;
      }
      --by_hash_[hash(w.destination)];
      left_.add();
    }
    count_ = kept;
  }
  /// Whether a packet waits that came at `time` or before.
  [[nodiscard]] bool holds_since(Nanos time) const { return count_ > 0 && slots_[0].since <= time; }
  /// Makes the next update() due at once.
  void hurry(Nanos now) { next_ = now; }
  [[nodiscard]] static bool expired(const Waiting& w, Nanos now) {
    return now >= w.since + kTimeout;
  }

  // --- the control thread
  /// Takes up to out.size() requests; returns how many.
  unsigned requests(std::span<NeighbourRequest> out) {
    return rte_ring_sc_dequeue_burst_elem(requests_, out.data(), sizeof(NeighbourRequest),
                                          static_cast<unsigned>(out.size()), nullptr);
  }

  // --- any thread
  [[nodiscard]] uint64_t waiting() const {
    const uint64_t left = left_.read();  // first: never below zero
    return entered_.read() - left;
  }

 private:
  static constexpr unsigned kHashes = 1024;
  explicit NeighbourQueue(rte_ring* requests) : requests_(requests) {}
  static unsigned hash(const config::Ipv6& address);

  rte_ring* requests_;
  unsigned count_ = 0;
  Nanos next_{0};
  metrics::Counter entered_, left_;
  std::array<uint8_t, kHashes> by_hash_{};  // packets that wait, by hash of the destination
  std::array<Waiting, kTotal> slots_;       // the first count_, in order of arrival
};

}  // namespace turnpike::router
