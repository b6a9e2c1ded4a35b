// SPDX-License-Identifier: BSD-3-Clause
// One worker's side of an egress link: its law, admission, accounting and shaping.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "common/dpdk/queue_pair.h"
#include "router/datapath/burst.h"
#include "router/datapath/egress/port_tx.h"
#include "router/datapath/link/egress_link.h"

namespace turnpike::router {

class LinkShaper;

/// Packets of a burst that go to one link, in order of arrival.
struct LinkGroup {
  unsigned link = 0;
  uint32_t members = 0;  // set of places in the burst
};

/// The same group after LinkQueue::price(). Members that were dropped have left Burst::forward.
struct PricedGroup {
  uint32_t members = 0;
  uint64_t bytes = 0;                   // of all members on the link
  double backlog = 0;                   // B that waited before the link when they came
  std::array<uint8_t, kBurst> classes;  // by place in the burst, where the link has several
};

/// Every call into the link's law, every packet counted or dropped for the link on this worker, and
/// every packet sent on it passes through here. Used by one thread.
///
///     queue.enqueue(burst, queue.price(burst, group));  // each group of a burst
///     Nanos next = queue.poll(now);                     // each poll: shape and transmit
class LinkQueue {
 public:
  /// `port`: the worker's queue pair at the link, null where it has none. `slack`: LinkShaper's.
  /// The link, its rings and the port outlive the queue.
  LinkQueue(EgressLink& link, unsigned worker, QueuePair* port, Nanos slack);
  LinkQueue(LinkQueue&&) noexcept;
  ~LinkQueue();

  /// Admits the group as far as the buffer has room, passes it to the law once, and updates the UDP
  /// checksums over the bytes that the law rewrote. Drops packets without room, those whose headers
  /// the law refuses, and those that its AQM drops.
  PricedGroup price(Burst& burst, const LinkGroup& group);

  /// Rewrites the packets left of the group and puts them into the ring to the worker that owns the
  /// link, or sends them where this worker has a queue at a line-rate port.
  void enqueue(Burst& burst, const PricedGroup& group);

  /// Sends what is due. Returns the time of the next call, kNever while the queue is empty.
  Nanos poll(Nanos now);
  /// Whether the last poll sent anything from the rings.
  [[nodiscard]] bool moved() const;

  /// Runs the law's control interval where this worker owns the link and the interval has ended.
  /// Returns the time of the next call.
  Nanos update(Nanos now);

  /// Lets the law publish this worker's shard although no packets came.
  void publish(Nanos now);

  /// The worker was descheduled for `time`; packets that came meanwhile are received from now on.
  void stall(Nanos time) {
    if (!link_.traits.knows_stalls) missed_ += time;
    owed_ += time;
  }
  /// All packets that came during the stall have been received.
  void end_stall() { owed_ = Nanos(0); }

  /// Takes packets out of the link's queue: calls the law's departure hook and sends them.
  void dequeue(std::span<const QueuedPacket> batch, Nanos now);

  /// Drops everything that waits here.
  void discard(DropReason why);

  void drop(DropReason why) { shard_.drop(why); }
  /// Counts frames from the link's port.
  void count_received(uint64_t packets, uint64_t bytes) {
    shard_.rx_packets.add(packets);
    shard_.rx_bytes.add(bytes);
  }

  /// Packets held for the link by all workers.
  [[nodiscard]] uint64_t held() const { return link_.held(); }
  /// B per packet that the link adds to the datagram.
  [[nodiscard]] uint32_t overhead() const { return link_.overhead; }

 private:
  LinkState observe(Nanos now);
  [[nodiscard]] LinkState state_at(double queue) const;
  void fill_gap(uint64_t bytes);
  void enter(uint64_t bytes, uint64_t packets);
  void enqueue_to_owner(Burst& burst, const PricedGroup& group);
  void enqueue_to_port(Burst& burst, const PricedGroup& group);
  void push(Burst& burst, std::span<const QueuedPacket> batch, const uint8_t* members,
            unsigned queue_class);
  void push_by_class(Burst& burst, std::span<const QueuedPacket> batch, const uint8_t* members);
  void depart(std::span<const QueuedPacket> packets, Nanos now);

  [[nodiscard]] bool owner() const { return link_.owner == worker_; }

  /// Time as the law counts it on this worker, without the time in which it was descheduled: a law
  /// must not take a stall for silence of the senders.
  [[nodiscard]] Nanos law_time(Nanos now) const { return now - missed_; }

  EgressLink& link_;
  LinkShard& shard_;
  LinkRing* ring_;  // to the link's owner; null: packets go straight to the port
  Nanos missed_{0};
  Nanos owed_{0};  // part of the last stall that packets received since have not filled
  std::unique_ptr<PortTx> tx_;          // null: this worker has no queue at the port
  std::unique_ptr<LinkShaper> shaper_;  // null: another worker owns the link, or it has no rings
  Nanos next_update_{0};                // as the law counts time
  unsigned worker_;
};

}  // namespace turnpike::router
