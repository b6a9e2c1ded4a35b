// SPDX-License-Identifier: BSD-3-Clause
// The queues between a router's workers, Linux's interfaces, and the control thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/config/topology.h"
#include "common/metrics/counter.h"
#include "router/datapath/local/token_bucket.h"
#include "router/datapath/punt/joined_groups.h"
#include "router/datapath/punt/neighbour_queue.h"
#include "router/datapath/punt/packet_ring.h"

namespace turnpike::router {

using config::kPuntClasses;
using config::PuntClass;

/// One worker's side. It alone writes it; any thread reads the counters, the punt thread uses the
/// rings' other ends.
struct alignas(64) PuntShard {
  using Buckets = std::array<TokenBucket, kPuntClasses>;

  std::array<metrics::Counter, kPuntClasses> punted;   // put into `to_linux`, by class
  std::array<metrics::Counter, kPuntClasses> limited;  // dropped by the class's rate
  std::array<metrics::Counter, kPuntClasses> dropped;  // `to_linux` was full
  std::atomic<uint64_t> groups_version{0};             // of the groups that the worker reads
  std::vector<Buckets> buckets;                        // by link of arrival
  std::unique_ptr<PacketRing> to_linux, from_linux;
  std::unique_ptr<NeighbourQueue> waiting;
};

/// Shared by workers, punt thread and control thread; each calls its own functions.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): threads write lines of their own
class PuntPath {
 public:
  /// Null: no memory. A class's burst is a tenth of a second of its rate, 32 packets at least.
  static std::unique_ptr<PuntPath> make(const config::LinuxControl& control, size_t links,
                                        unsigned workers, int socket);

  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(shards_.size()); }
  [[nodiscard]] PuntShard& shard(unsigned worker) { return *shards_[worker]; }
  [[nodiscard]] bool punts_ttl() const { return punts_ttl_; }

  // --- workers
  /// Any time of a poll; remains valid until the worker's next call.
  [[nodiscard]] const JoinedGroups* load_groups(unsigned worker) {
    const JoinedGroups* groups = groups_.load(std::memory_order_acquire);
    shards_[worker]->groups_version.store(groups->version, std::memory_order_release);
    return groups;
  }

  // --- control thread
  /// Replaces the groups; frees former ones that no worker reads any more. The set has an entry for
  /// each link.
  void set_groups(JoinedGroups groups);
  [[nodiscard]] const JoinedGroups& groups() const { return *owned_.back(); }

  // --- punt thread
  /// Counts packets taken out of `to_linux`: every one of them, then those that Linux refused.
  void count_taken(uint64_t packets) { taken_.add(packets); }
  void count_refused(size_t link) { refused_[link].add(); }
  /// Frames from Linux that the thread dropped: longer than a packet buffer, or without a header.
  void count_unusable() { unusable_.add(); }

  // --- any thread
  [[nodiscard]] uint64_t taken() const { return taken_.read(); }
  [[nodiscard]] uint64_t refused(size_t link) const { return refused_[link].read(); }
  [[nodiscard]] uint64_t unusable() const { return unusable_.read(); }
  /// Packets in the rings to Linux.
  [[nodiscard]] uint64_t held() const;
  /// Packets that wait for neighbours.
  [[nodiscard]] uint64_t waiting() const;

 private:
  PuntPath() = default;

  std::vector<std::unique_ptr<PuntShard>> shards_;  // by worker
  std::atomic<const JoinedGroups*> groups_{nullptr};
  std::vector<std::unique_ptr<const JoinedGroups>> owned_;  // the last one is groups_
  bool punts_ttl_ = false;
  alignas(64) metrics::Counter taken_, unusable_;
  std::vector<metrics::Counter> refused_;  // by link
};

}  // namespace turnpike::router
