// SPDX-License-Identifier: BSD-3-Clause
// Shapes a link: merges all workers' rings in time order and paces packets at the link's rate.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "common/dpdk/buffer.h"
#include "router/datapath/egress/port_tx.h"
#include "router/datapath/link/class_scheduler.h"
#include "router/datapath/link/link_queue.h"

namespace turnpike::router {

/// Sends a shaped link's packets, each when the ones before it have been carried: departure =
/// max(previous departure + its size / rate, time it was queued). A late poll catches up on at most
/// `slack` of link time; with slack 0 the pace is exact if polls come at the deadlines that poll()
/// returns. A line-rate link is emptied at once. With classes, the scheduler picks among the
/// classes with a packet waiting when the link is free.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members in the order of their use
class alignas(64) LinkShaper {
 public:
  /// Time between attempts to send to a port that did not take all packets.
  static constexpr Nanos kPortRetry{10'000};

  /// For `worker`, the link's owner. The link and its rings must outlive the shaper.
  LinkShaper(EgressLink& link, unsigned worker, Nanos slack);
  /// A shaper to replace one of the link with replace(); takes memory for all that one may hold.
  static std::unique_ptr<LinkShaper> successor(EgressLink& link, unsigned worker, Nanos slack,
                                               unsigned classes);

  /// Passes packets that are due to queue.dequeue() while `port` takes them. Returns when the next
  /// one is due, kNever while the rings are empty.
  Nanos poll(LinkQueue& queue, PortTx& port, Nanos now);

  /// Whether all packets come from one ring: the next departure changes only as it gets packets.
  [[nodiscard]] bool single() const { return sources_.size() == 1; }

  /// Whether the last poll sent anything, or discard_some() dropped anything.
  [[nodiscard]] bool moved() const { return moved_; }

  /// Reads the weights of the law's classes.
  void read_weights();
  /// Reads the link's rate and the weights of its classes.
  void read_link();

  /// Goes on from `before`, whose link has other classes or other rings now. The first `kept`
  /// classes are the same. If `moved`, their packets are in the link's new rings already; all other
  /// packets of `before` are still in its rings, and leave before the packets that come from now
  /// on: those of kept classes within their class, those of other classes as packets of the last
  /// class, for which new packets of all classes that are not kept wait. So no flow's packets are
  /// reordered, whichever class it moves to. Does not allocate.
  void replace(LinkShaper& before, unsigned kept, bool moved);
  /// Whether packets may be left in a ring that the link has had.
  [[nodiscard]] bool drains(const LinkRing* ring) const;

  /// Drops all packets in the rings.
  void discard(DropReason why) {
    while (discard_some(why)) {
    }
  }
  /// Drops packets in the rings, at most as many as a poll sends. Returns whether any may be left.
  bool discard_some(DropReason why);

 private:
  static constexpr unsigned kPerPoll = 128;  // packets; bounds the delay of other links
  static constexpr unsigned kBatch = kBurst;

  // Packets taken out of one worker's ring, so that the rings' oldest packets can be compared.
  struct Source {
    LinkRing* ring = nullptr;
    uint8_t ring_class = 0;   // in the ring
    uint8_t queue_class = 0;  // of the link
    bool draining = false;    // no packets are added; the source goes when it is empty
    bool blocking = false;    // draining: packets of classes in `held_` wait for its packets
    unsigned next = 0, count = 0;
    std::array<QueuedPacket, kBatch> head;

    [[nodiscard]] const QueuedPacket& front() const { return head[next]; }
    /// Prefetches a packet that leaves soon: it may have waited for longer than caches keep it.
    void prefetch() const {
      constexpr unsigned kAhead = 2;
      if (next + kAhead >= count) return;
      const QueuedPacket& soon = head[next + kAhead];
      rte_prefetch0(soon.mbuf);
      if (soon.congestion != 0) prefetch_frame(soon.mbuf, soon.congestion);
    }
    /// Whether front() is valid; refills from the ring.
    [[nodiscard]] bool ready() {
      if (next < count) return true;
      next = 0;
      count = ring->pop(head, ring_class);
      return count > 0;
    }
  };

  /// The source of the next packet to leave; null: all are empty.
  Source* choose(Nanos now) {
    if (sources_.size() == 1) [[likely]]
      return sources_.front().ready() ? &sources_.front() : nullptr;
    return link_.traits.classes == 1 ? earliest(sources_) : choose_by_class(now);
  }
  static Source* earliest(std::span<Source> sources);
  /// The same from `first_`, which find_first() keeps for each class during a poll.
  Source* choose_by_class(Nanos now);
  void find_first(unsigned c);
  void add_sources();
  void add(const Source& source);
  void drop_drained();
  void take_from_class(const QueuedPacket& q);
  /// When the link can send a packet that came at `time`. Rounded up: a packet never leaves before
  /// the link is free.
  [[nodiscard]] Nanos departure(Nanos time, Nanos now) const {
    return max(max(fraction_ > 0 ? free_ + 1_ns : free_, time), now - slack_);
  }

  EgressLink& link_;
  LinkShard& shard_;
  Nanos slack_;
  double nanos_per_byte_ = 0;
  Nanos free_{0};        // when the link is free again, rounded down
  double fraction_ = 0;  // ns beyond that
  bool moved_ = false;
  unsigned draining_ = 0;        // number of draining sources
  uint32_t held_ = 0;            // classes that wait for blocking sources
  std::vector<Source> sources_;  // class by class; draining ones first, then by worker
  std::array<unsigned, kMaxClasses + 1> begin_{};  // first source of each class
  // With several classes, in a poll: where the next packet of each class is, if it is in the set.
  std::array<Source*, kMaxClasses> first_{};
  uint32_t waiting_ = 0;
  ClassScheduler scheduler_;  // of a link with several classes
};

}  // namespace turnpike::router
