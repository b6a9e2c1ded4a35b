// SPDX-License-Identifier: BSD-3-Clause
// Collects packets for one port queue and sends them in batches.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

#include <rte_mbuf.h>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/burst.h"
#include "router/datapath/link/egress_link.h"

namespace turnpike::router {

class Probe;

/// Used by the worker that owns the queue pair. Keeps packets that the port refuses, and tries
/// again; drops packets for which there is no slot.
class alignas(64) PortTx {
 public:
  static constexpr size_t kSlots = 128;

  PortTx(QueuePair& port, LinkShard& shard) : port_(&port), shard_(shard) {}

  /// See LinkQueue::observe().
  void observe(QueuePair& port, const Probe* probe, unsigned link) {
    port_ = &port;
    probe_ = probe;
    link_ = link;
  }

  /// Adds a packet that the link's queue has counted (LinkShard::enter()); `size` is B on the link.
  /// Takes ownership.
  void append(rte_mbuf* m, uint32_t size, Nanos now) {
    if (count_ == kSlots) flush(now);
    if (count_ == kSlots) {
      shard_.leave(size);
      refuse(m, now);
      return;
    }
    mbufs_[count_] = m;
    sizes_[count_++] = size;
  }

  /// Adds the packets of the set `leaving` in a burst.
  void append(const Burst& burst, uint32_t leaving) {
    if (count_ + static_cast<size_t>(std::popcount(leaving)) > kSlots) [[unlikely]] {
      for_each(leaving, [&](unsigned i) { append(burst.mbufs[i], burst.info[i].size, burst.now); });
      return;
    }
    size_t n = count_;
    for_each(leaving, [&](unsigned i) {
      mbufs_[n] = burst.mbufs[i];
      sizes_[n++] = burst.info[i].size;
    });
    count_ = n;
  }

  /// Sends all packets of a burst without copying them to the slots, which must be empty. `bytes`:
  /// their sum on the link.
  void send(Burst& burst, uint64_t bytes);

  void flush(Nanos now);

  [[nodiscard]] size_t waiting() const { return count_; }
  /// B of the packets that wait here.
  [[nodiscard]] uint64_t waiting_bytes() const {
    return std::accumulate(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(count_),
                           uint64_t{0});
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// Drops all packets that wait here.
  void discard(DropReason why);

 private:
  void refuse(rte_mbuf* m, Nanos now);
  void count_sent(uint64_t bytes, size_t packets) {
    shard_.tx_packets.add(packets);
    shard_.tx_bytes.add(bytes);
    shard_.leave(bytes, packets);
  }

  QueuePair* port_;
  LinkShard& shard_;
  size_t count_ = 0;
  std::array<rte_mbuf*, kSlots> mbufs_;
  std::array<uint32_t, kSlots> sizes_;
  const Probe* probe_ = nullptr;  // null: no probe is set
  unsigned link_ = 0;             // index among the router's, for the probe
};

}  // namespace turnpike::router
