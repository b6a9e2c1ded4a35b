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
class Probe;

/// Packets of a burst that go to one link, in order of arrival.
struct LinkGroup {
  unsigned link = 0;
  uint32_t members = 0;  // set of places in the burst
};

/// A group after LinkQueue::price(). Dropped members have left Burst::forward.
struct PricedGroup {
  uint32_t members = 0;
  uint64_t bytes = 0;                   // of all members on the link, dropped ones included
  double backlog = 0;                   // B that waited before the link at their arrival
  std::array<uint8_t, kBurst> classes;  // by place in the burst, if the link has several classes
};

/// One worker's part of a link. Every call to the link's law, every packet counted or dropped for
/// the link by this worker, and every packet sent on it passes through here. Used by one thread.
///
///     queue.enqueue(burst, queue.price(burst, group));  // each group of a burst
///     Nanos next = queue.poll(now);                     // each poll: shape and transmit
class LinkQueue {
 public:
  /// `port`: the worker's queue pair at the link, null if it has none. `slack`: see LinkShaper.
  /// `idle_until`: where the queue keeps the time before which poll() has nothing to do, so that
  /// the worker finds those of all queues in few cache lines. The link, its rings, the port and
  /// that place must outlive the queue.
  LinkQueue(EgressLink& link, unsigned worker, QueuePair* port, Nanos slack, Nanos& idle_until);
  LinkQueue(LinkQueue&&) noexcept;
  ~LinkQueue();

  /// Admits packets while the buffer has room, calls the law once with the group, and updates UDP
  /// checksums over the bytes that the law rewrote. Drops packets without room, packets whose
  /// headers the law refuses, and packets that its AQM drops.
  PricedGroup price(Burst& burst, const LinkGroup& group);

  /// Rewrites the group's remaining packets and puts them into the ring to the link's owner, or
  /// sends them if this worker has a queue at a line-rate port.
  void enqueue(Burst& burst, const PricedGroup& group);

  /// Sends packets that are due; drops packets that wait for a link that is down. Returns the time
  /// of the next call, kNever while the queue is empty. Call it before that time if the link has
  /// come up or gone down.
  Nanos poll(Nanos now);
  /// Whether the last poll sent or dropped anything from the rings.
  [[nodiscard]] bool moved() const { return moved_; }

  /// Runs the law's control interval if this worker owns the link and the interval has ended.
  /// Returns the time of the next call.
  Nanos update(Nanos now);

  /// Calls the law with an empty burst, so that this worker's shard is published.
  void publish(Nanos now);

  /// Reports a stall of `time`. Packets that arrived meanwhile are received from now on.
  void stall(Nanos time) {
    if (!link_.traits.knows_stalls) missed_ += time;
    owed_ += time;
  }
  /// Reports that all packets that arrived during the stall have been received.
  void end_stall() { owed_ = Nanos(0); }

  /// Whether more waits than the buffer holds, as it may after a stall, and the port does not take
  /// what is due.
  [[nodiscard]] bool overfull() const {
    return tx_ && !tx_->empty() && link_.queued() > link_.buffer;
  }

  /// Takes packets out of the link's queue: calls the law's departure hook and sends them.
  void dequeue(std::span<const QueuedPacket> batch, Nanos now);

  /// Sends by `port` from now on, which stands before the worker's queue pair at `link`. `probe`:
  /// is shown packets that the port leaves no slot for; null: none.
  void observe(QueuePair& port, const Probe* probe, unsigned link) {
    tx_->observe(port, probe, link);
  }

  /// Drops all packets that wait here.
  void discard(DropReason why);

  /// Reads the link's settings again after EgressLink::take_settings(). `begins`: its law has begun
  /// anew. Call, like the functions below, while no worker polls.
  void read_link(bool begins);
  /// Replaces the shaper after the link's classes or rings have changed, see LinkShaper::replace();
  /// `made` gets the old one. `waiting`: waiting_bytes() of before.
  void replace_shaper(std::unique_ptr<LinkShaper>& made, unsigned kept, bool moved,
                      std::array<double, kMaxClasses> waiting);
  /// B in the link's rings by class, for the first `kept` classes of old, and of all others as one
  /// class behind them.
  [[nodiscard]] std::array<double, kMaxClasses> waiting_bytes(unsigned kept) const;
  /// LinkShaper::drains().
  [[nodiscard]] bool drains(const LinkRing* ring) const;

  void drop(DropReason why) { shard_.drop(why); }
  /// Counts frames received from the link's port.
  void count_received(uint64_t packets, uint64_t bytes) {
    shard_.rx_packets.add(packets);
    shard_.rx_bytes.add(bytes);
  }

  /// The packets whose payments are checked here.
  [[nodiscard]] const Audited& audited() const { return link_.audited; }
  /// This worker's audit of senders; null: other routers are behind the link.
  [[nodiscard]] BalanceAudit* audit() const { return audit_; }

  // Of a port that has a queue of this worker's own:
  /// Whether packets for the link go straight there.
  [[nodiscard]] bool direct() const { return ring_ == nullptr && tx_ != nullptr; }
  /// Whether packets wait that the port has not taken.
  [[nodiscard]] bool waits_for_port() const { return tx_ != nullptr && !tx_->empty(); }
  /// Packets that the port has taken from this worker.
  [[nodiscard]] uint64_t sent() const { return shard_.tx_packets.read(); }

  /// Price of the link at present by this worker's shard of the law, $/B; 0: it has none.
  [[nodiscard]] double price_now() const { return link_.law ? link_.law->price(worker_) : 0; }
  /// Whether groups share the link: that price is not in senders' money.
  [[nodiscard]] bool has_groups() const { return link_.groups != nullptr; }
  /// Packets held for the link by all workers.
  [[nodiscard]] uint64_t held() const { return link_.held(); }
  /// Whether the link takes packets, see Router::set_link_up().
  [[nodiscard]] bool up() const { return link_.up.load(std::memory_order_relaxed); }
  /// B per packet that the link adds to the datagram.
  [[nodiscard]] uint32_t overhead() const { return link_.overhead; }

 private:
  LinkState observe(Nanos now);
  [[nodiscard]] LinkState state_at(double queue) const;
  void fill_gap(uint64_t bytes);
  void enter(uint64_t bytes, uint64_t packets);
  Nanos drop_waiting(Nanos now);
  void enqueue_to_owner(Burst& burst, const PricedGroup& group);
  void enqueue_to_port(Burst& burst, const PricedGroup& group);
  void push(Burst& burst, uint32_t set, unsigned queue_class);
  void depart(std::span<const QueuedPacket> packets, Nanos now);

  [[nodiscard]] bool owner() const { return link_.owner == worker_; }

  /// The law's time on this worker, which excludes stalls: otherwise a law would take a stall for
  /// silence of the senders.
  [[nodiscard]] Nanos law_time(Nanos now) const { return now - missed_; }

  EgressLink& link_;
  LinkShard& shard_;
  BalanceAudit* audit_;
  LinkRing* ring_;  // to the link's owner; null: packets go straight to the port
  Nanos missed_{0};
  Nanos owed_{0};  // part of the last stall that packets received since have not filled
  std::unique_ptr<PortTx> tx_;          // null: this worker has no queue at the port
  std::unique_ptr<LinkShaper> shaper_;  // null: another worker owns the link, or it has no rings
  Nanos next_update_{0};                // in law time
  Nanos& idle_until_;                   // poll() sends nothing before, unless packets are enqueued
  bool moved_ = false;
  unsigned worker_;
};

}  // namespace turnpike::router
