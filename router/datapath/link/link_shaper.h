// SPDX-License-Identifier: BSD-3-Clause
// The owner's side of a link's queue: all workers' rings merged in time order, paced at the rate.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "router/datapath/egress/port_tx.h"
#include "router/datapath/link/class_scheduler.h"
#include "router/datapath/worker_context.h"

namespace turnpike::router {

/// Sends a shaped link's packets so that each leaves when the ones before it have been carried:
/// departure = max(previous departure + its size / rate, time it was queued). A poll that comes
/// late catches up on at most `slack` of link time; with slack 0 the pace is exact when polls
/// come at the deadlines that poll() returns. A line-rate link is emptied at once. Of classes, that
/// one leaves which the scheduler picks among those with a packet waiting when the link is free.
class alignas(64) LinkShaper {
 public:
  /// Time between tries to send to a port that did not take everything.
  static constexpr Nanos kPortRetry{10'000};

  /// The context is the owner's, which has a queue at the link's port.
  LinkShaper(const WorkerContext& context, unsigned link, Nanos slack);

  /// Sends what is due; returns when the next packet is, kNever while the queue is empty.
  Nanos poll(Nanos now);

  /// Whether the last poll sent anything.
  [[nodiscard]] bool moved() const { return moved_; }

  /// Calls the law's control interval where it is due; returns its next deadline.
  Nanos update(Nanos now);

  /// Drops everything queued.
  void discard(DropReason why);

 private:
  static constexpr unsigned kPerPoll = 128;  // packets; the other links wait meanwhile
  static constexpr unsigned kBatch = 32;

  // Packets taken out of one worker's ring, so that the rings' heads can be compared.
  struct Source {
    LinkRing* ring = nullptr;
    unsigned queue_class = 0;
    unsigned next = 0, count = 0;
    std::array<QueuedPacket, kBatch> head;

    [[nodiscard]] const QueuedPacket& front() const { return head[next]; }
    /// Whether there is a front.
    [[nodiscard]] bool ready() {
      if (next < count) return true;
      next = 0;
      count = ring->pop(head, queue_class);
      return count > 0;
    }
  };

  /// The ring with the next packet to leave; null: all are empty.
  Source* choose(Nanos now) {
    if (sources_.size() == 1) [[likely]]
      return sources_.front().ready() ? &sources_.front() : nullptr;
    return link_.classes == 1 ? earliest(sources_) : choose_by_class(now);
  }
  static Source* earliest(std::span<Source> sources);
  Source* choose_by_class(Nanos now);
  void take_from_class(const QueuedPacket& q);
  void read_weights();
  void send(std::span<const QueuedPacket> batch, Nanos now);
  /// When the link can send it. Rounded up: a packet never leaves before the link is free.
  [[nodiscard]] Nanos departure(const QueuedPacket& q, Nanos now) const {
    return std::max({fraction_ > 0 ? free_ + 1_ns : free_, q.time, now - slack_});
  }

  // Where egresses lie is only known once the context has them all.
  [[nodiscard]] const Egress& egress() const { return context_.egress[index_]; }

  const WorkerContext& context_;
  unsigned index_;
  EgressLink& link_;
  PortTx& sender_;
  Nanos slack_;
  double nanos_per_byte_;
  Nanos free_{0};        // when the link is free again, rounded down
  double fraction_ = 0;  // ns beyond that
  bool moved_ = false;
  Nanos next_update_{0};         // as the law counts time
  std::vector<Source> sources_;  // class by class
  ClassScheduler scheduler_;     // of a link with several
};

}  // namespace turnpike::router
