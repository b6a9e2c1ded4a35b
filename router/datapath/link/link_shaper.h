// SPDX-License-Identifier: BSD-3-Clause
// Shapes a link: merges all workers' rings in time order and paces packets at the link's rate.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "router/datapath/egress/port_tx.h"
#include "router/datapath/link/class_scheduler.h"
#include "router/datapath/link/link_queue.h"

namespace turnpike::router {

/// Sends a shaped link's packets, each when the ones before it have been carried: departure =
/// max(previous departure + its size / rate, time it was queued). A late poll catches up on at most
/// `slack` of link time; with slack 0 the pace is exact if polls come at the deadlines that poll()
/// returns. A line-rate link is emptied at once. With classes, the scheduler picks among the
/// classes with a packet waiting when the link is free.
class alignas(64) LinkShaper {
 public:
  /// Time between attempts to send to a port that did not take all packets.
  static constexpr Nanos kPortRetry{10'000};

  /// For `worker`, the link's owner. The link and its rings must outlive the shaper.
  LinkShaper(EgressLink& link, unsigned worker, Nanos slack);

  /// Passes packets that are due to queue.dequeue() while `port` takes them. Returns when the next
  /// one is due, kNever while the rings are empty.
  Nanos poll(LinkQueue& queue, PortTx& port, Nanos now);

  /// Whether the last poll sent anything.
  [[nodiscard]] bool moved() const { return moved_; }

  /// Reads the weights of the law's classes.
  void read_weights();

  /// Drops all packets in the rings.
  void discard(DropReason why);

 private:
  static constexpr unsigned kPerPoll = 128;  // packets; bounds the delay of other links
  static constexpr unsigned kBatch = 32;

  // Packets taken out of one worker's ring, so that the rings' oldest packets can be compared.
  struct Source {
    LinkRing* ring = nullptr;
    unsigned queue_class = 0;
    unsigned next = 0, count = 0;
    std::array<QueuedPacket, kBatch> head;

    [[nodiscard]] const QueuedPacket& front() const { return head[next]; }
    /// Whether front() is valid; refills from the ring.
    [[nodiscard]] bool ready() {
      if (next < count) return true;
      next = 0;
      count = ring->pop(head, queue_class);
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
  void take_from_class(const QueuedPacket& q);
  /// When the link can send a packet that came at `time`. Rounded up: a packet never leaves before
  /// the link is free.
  [[nodiscard]] Nanos departure(Nanos time, Nanos now) const {
    return std::max({fraction_ > 0 ? free_ + 1_ns : free_, time, now - slack_});
  }

  EgressLink& link_;
  LinkShard& shard_;
  Nanos slack_;
  double nanos_per_byte_;
  Nanos free_{0};        // when the link is free again, rounded down
  double fraction_ = 0;  // ns beyond that
  bool moved_ = false;
  std::vector<Source> sources_;  // class by class, then by worker
  // With several classes, in a poll: where the next packet of each class is, if it is in the set.
  std::array<Source*, kMaxClasses> first_{};
  uint32_t waiting_ = 0;
  ClassScheduler scheduler_;  // of a link with several classes
};

}  // namespace turnpike::router
