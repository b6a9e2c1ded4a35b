// SPDX-License-Identifier: BSD-3-Clause
// Memory of the ingress queues of all tunnels of an lcore: packets, flows, hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "router/gateway/codel.h"

struct rte_mbuf;

namespace turnpike::gateway {

inline constexpr uint32_t kNone = UINT32_MAX;

/// A packet that waits: an IP datagram without Ethernet header.
struct Waiting {
  rte_mbuf* packet = nullptr;
  Nanos since{0};
  uint32_t next = kNone;
  bool urgent = false;  // small, and its flow was below its share when it came
};

/// First and last of a list threaded through the pool.
struct List {
  uint32_t first = kNone, last = kNone;
  [[nodiscard]] bool empty() const { return first == kNone; }
};

/// A place in a round of deficit round robin.
struct Turn {
  int32_t deficit = 0;         // B that it may still send in this round
  uint32_t next = kNone;       // in fresh or old
  uint32_t next_back = kNone;  // in back
  bool in_back = false;
  bool old = false;  // has had a turn since it became active
};

/// Entries that wait for a turn, in the order in which the lists are served.
struct Round {
  List back;   // idle for a part of this round, with a rest of its quantum
  List fresh;  // have just become active
  List old;
  [[nodiscard]] bool empty() const { return back.empty() && fresh.empty() && old.empty(); }
};

/// The packets of one inner flow that wait.
struct FlowQueue {
  Turn turn;
  uint32_t owner = 0;  // host
  uint32_t hash = 0;
  uint32_t chain = kNone;  // next of the same bucket
  uint32_t bytes = 0;
  List packets;  // Waiting
  Codel codel;
};

/// The flows of one host that wait.
struct HostQueue {
  Turn turn;
  uint32_t owner = 0;  // tunnel
  uint32_t hash = 0;
  uint32_t chain = kNone;
  uint32_t packets = 0;
  Round round;  // FlowQueue
};

/// Entries found by owner and hash. No allocation after construction.
template <class Entry>
class EntryPool {
 public:
  /// `capacity`: entries at a time.
  explicit EntryPool(size_t capacity)
      : entries_(capacity), free_(capacity), buckets_(buckets_for(capacity), kNone) {
    for (size_t i = 0; i < capacity; ++i) free_[i] = static_cast<uint32_t>(capacity - 1 - i);
  }

  [[nodiscard]] Entry& operator[](uint32_t i) { return entries_[i]; }
  [[nodiscard]] size_t in_use() const { return entries_.size() - free_.size(); }
  /// Whether idle entries have to go, so that there is one for each packet that may wait.
  [[nodiscard]] bool crowded() const { return 2 * in_use() > entries_.size(); }

  /// The entry of this owner and hash, made if there is none; kNone: the pool is empty. Sets
  /// `made`.
  uint32_t find(uint32_t owner, uint32_t hash, bool& made) {
    uint32_t& bucket = bucket_of(owner, hash);
    for (uint32_t i = bucket; i != kNone; i = entries_[i].chain)
      if (entries_[i].owner == owner && entries_[i].hash == hash) {
        made = false;
        return i;
      }
    if (free_.empty()) return kNone;
    const uint32_t i = free_.back();
    free_.pop_back();
    entries_[i] = {};
    entries_[i].owner = owner;
    entries_[i].hash = hash;
    entries_[i].chain = bucket;
    bucket = i;
    made = true;
    return i;
  }
  void give_back(uint32_t i) {
    uint32_t* link = &bucket_of(entries_[i].owner, entries_[i].hash);
    while (*link != i) link = &entries_[*link].chain;
    *link = entries_[i].chain;
    free_.push_back(i);
  }

 private:
  static size_t buckets_for(size_t capacity) {
    size_t n = 1;
    while (n < 2 * capacity) n *= 2;
    return n;
  }
  uint32_t& bucket_of(uint32_t owner, uint32_t hash) {
    // Fibonacci hashing (Knuth, volume 3, section 6.4); hashes of packets are keyed already.
    const uint64_t mixed = (uint64_t{owner} << 32 | hash) * 0x9e3779b97f4a7c15;
    return buckets_[(mixed >> 32) & (buckets_.size() - 1)];
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> buckets_;
};

/// Owned by one lcore.
struct QueuePool {
  /// `packets`: that may wait in all tunnels together.
  explicit QueuePool(size_t packets) : flows(2 * packets), hosts(2 * packets), waiting(packets) {
    free.reserve(packets);
    for (size_t i = packets; i > 0; --i) free.push_back(static_cast<uint32_t>(i - 1));
  }

  // Half of the entries may be kept after their last packet has left, until their turn comes.
  EntryPool<FlowQueue> flows;
  EntryPool<HostQueue> hosts;
  std::vector<Waiting> waiting;
  std::vector<uint32_t> free;  // of `waiting`
};

}  // namespace turnpike::gateway
