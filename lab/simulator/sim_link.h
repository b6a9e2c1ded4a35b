// SPDX-License-Identifier: BSD-3-Clause
// A link of a world: delivers packets after the serialisation, delay and loss of its options.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/dpdk/queue_pair.h"
#include "lab/simulator/schedule.h"
#include "sender/workload/random.h"

namespace turnpike::lab {

/// Properties of one direction.
struct SimLinkOptions {
  double rate = 0;  // B/s; 0: the sending node paces
  Nanos delay{0};
  Nanos jitter{0};        // uniform, beyond the delay; order is kept
  double loss = 0;        // share of packets
  double reorder = 0;     // share of packets that come a quarter of the delay late, past others
  uint32_t overhead = 0;  // B per packet that count beyond the IP datagram
  uint64_t seed = 1;
  uint32_t stream = 0;  // index of its random numbers: one per direction
};

/// A node that polls a queue at the end of a channel.
struct SimReceiver {
  uint32_t node = 0;  // of the schedule
  /// Where the channel keeps QueuePair::next_arrival(), which the node owns: one that polls many
  /// queues finds all of them in few cache lines.
  Nanos* next = nullptr;
};

/// Packets on their way in one direction, distributed over the receiving node's queues by flow.
///
/// Where sender and receivers are parts of their own, which two threads play, both play windows of
/// time one after the other: packets that were sent in a window reach the queues before the next.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the two threads' sides lie apart
class SimChannel {
 public:
  /// `receivers`: nodes of `schedule` to wake, one per queue; their places outlive the channel.
  /// `apart`: another thread sends.
  SimChannel(const SimLinkOptions& options, Schedule& schedule, std::vector<SimReceiver> receivers,
             bool apart = false);
  ~SimChannel();
  SimChannel(const SimChannel&) = delete;
  SimChannel& operator=(const SimChannel&) = delete;

  /// Sends the first packets of the burst, as many as a port's descriptors hold; returns their
  /// number.
  uint16_t send(Nanos now, std::span<rte_mbuf*> burst);
  /// For packets from now on, B/s; 0: the sending node paces.
  void set_rate(double rate) { nanos_per_byte_ = rate > 0 ? 1e9 / rate : 0; }
  /// For packets from now on. They overtake those before them if the delay became shorter.
  void set_path(Nanos delay, double loss) {
    options_.delay = delay;
    options_.loss = loss;
    straight_ = false;
  }
  /// Receives packets that have arrived at that queue by `now`.
  uint16_t receive(size_t queue, Nanos now, std::span<rte_mbuf*> out) {
    Queue& q = queues_[queue];
    return q.next() > now ? uint16_t{0} : q.take(now, out);
  }
  /// As QueuePair::next_arrival().
  [[nodiscard]] const Nanos& next(size_t queue) const { return queues_[queue].next(); }
  [[nodiscard]] size_t queues() const { return queues_.size(); }
  [[nodiscard]] uint32_t under_way(size_t queue) const { return queues_[queue].size(); }
  /// Packets that were lost at random.
  [[nodiscard]] uint64_t lost() const { return lost_; }
  /// Adds a packet of another sender, which takes no part of the rate. It arrives at `due`, no
  /// later than a packet that is sent now. Its checksums have not been verified.
  void inject(rte_mbuf* packet, Nanos due) { arrive(packet, due, queue_of(packet)); }
  /// Calls read(const rte_mbuf&) for each packet on its way to a queue, the next one to arrive
  /// first.
  template <class Read>
  void read(size_t queue, Read&& read) const {
    queues_[queue].read(read);
  }

  // Of a channel whose sender is apart.
  /// On the sending thread, before its first packet of a window.
  void begin_window() { boxes_[filled_ ^= 1].earliest = kNever; }
  /// When the first of the packets arrives that were sent in this window. On the sending thread.
  [[nodiscard]] Nanos earliest() const { return boxes_[filled_].earliest; }
  /// On the receiving thread, before its first poll of a window: takes what was sent in the last.
  void deliver();

 private:
  /// Packets in order of arrival; grows as the link fills.
  class Queue {
   public:
    explicit Queue(Nanos& next) : next_(next) { next_ = kNever; }
    /// Adds a packet that is due no earlier than all others.
    void append(rte_mbuf* packet, Nanos due) {
      if (size() > mask_) grow();
      if (size() == 0) next_ = due;
      at(tail_++) = {due, packet};
    }
    /// Inserts a packet before those that are due later.
    void insert(rte_mbuf* packet, Nanos due);
    uint16_t take(Nanos now, std::span<rte_mbuf*> out);
    template <class Read>
    void read(Read&& read) const {
      for (uint32_t i = head_; i != tail_; ++i) read(*at(i).packet);
    }
    /// When the first packet arrives; kNever: there is none. Updated in place.
    [[nodiscard]] const Nanos& next() const { return next_; }
    [[nodiscard]] uint32_t size() const { return tail_ - head_; }

   private:
    struct Entry {
      Nanos due;
      rte_mbuf* packet;
    };
    [[nodiscard]] Entry& at(uint32_t i) { return entries_[i & mask_]; }
    [[nodiscard]] const Entry& at(uint32_t i) const { return entries_[i & mask_]; }
    void grow();
    Nanos& next_;
    uint32_t mask_ = 63;            // one less than its capacity, a power of two
    uint32_t head_ = 0, tail_ = 0;  // unmasked; they wrap
    std::vector<Entry> entries_ = std::vector<Entry>(mask_ + 1);
  };

  /// Packets of a window for a receiver that is apart. There are two, which the threads use in
  /// turns.
  struct alignas(64) Box {
    struct Packet {
      Nanos due;
      rte_mbuf* packet;
      size_t queue;
    };
    std::vector<Packet> packets;
    Nanos earliest = kNever;
  };

  [[nodiscard]] size_t queue_of(rte_mbuf* packet) const;
  void launch(rte_mbuf* packet, Nanos leaves);
  void arrive(rte_mbuf* packet, Nanos due, size_t queue) {
    queues_[queue].insert(packet, due);
    schedule_.wake(receivers_[queue].node, due);
  }
  template <class Launch>
  uint16_t send_at_rate(Nanos now, std::span<rte_mbuf*> burst, Launch&& launch);

  SimLinkOptions options_;
  bool apart_;             // the sender's thread is not the receivers'
  bool straight_;          // one receiver gets every packet, in order, on the same thread
  double nanos_per_byte_;  // 0: the sending node paces
  std::vector<SimReceiver> receivers_;
  sender::Random random_;
  Nanos free_{0};        // when the wire has sent all packets, rounded down
  double fraction_ = 0;  // ns beyond that
  Nanos latest_{0};      // latest arrival so far: jitter keeps the order
  uint64_t lost_ = 0;
  uint32_t filled_ = 1;  // the box of the sender's window
  std::array<Box, 2> boxes_;
  // The receivers' side.
  alignas(64) Schedule& schedule_;
  std::vector<Queue> queues_;
  uint32_t delivered_ = 0;  // the box that was delivered last
};

/// One queue pair of a node at one end: receives from one channel and sends into the other.
class SimLinkEnd final : public QueuePair {
 public:
  SimLinkEnd(SimChannel& in, SimChannel& out, size_t queue) : in_(in), out_(out), queue_(queue) {}
  uint16_t rx(Nanos now, std::span<rte_mbuf*> out) override {
    return in_.receive(queue_, now, out);
  }
  uint16_t tx(Nanos now, std::span<rte_mbuf*> burst) override { return out_.send(now, burst); }
  [[nodiscard]] Nanos next_deadline() const override { return in_.next(queue_); }
  [[nodiscard]] const Nanos* next_arrival() const override { return &in_.next(queue_); }
  [[nodiscard]] uint32_t held() const override { return in_.under_way(queue_); }

 private:
  SimChannel& in_;
  SimChannel& out_;
  size_t queue_;
};

/// The nodes that poll the queues at one end of a link.
struct SimLinkNodes {
  Schedule* schedule = nullptr;
  std::vector<SimReceiver> nodes;
};

/// Both directions and all queues at both ends.
class SimLink {
 public:
  /// `wires[i]` leads from end i; `nodes[i]` poll the queues at end i. Two schedules: two threads
  /// play the ends.
  SimLink(const std::array<SimLinkOptions, 2>& wires, const std::array<SimLinkNodes, 2>& nodes);
  [[nodiscard]] QueuePair* end(size_t i, size_t queue) { return &ends_[i][queue]; }
  void set_rate(size_t i, double rate) { channels_[i]->set_rate(rate); }
  /// Both directions.
  void set_path(Nanos delay, double loss) {
    for (const auto& channel : channels_) channel->set_path(delay, loss);
  }
  /// The channel that leads from end i.
  [[nodiscard]] SimChannel& line(size_t i) { return *channels_[i]; }
  [[nodiscard]] const SimChannel& line(size_t i) const { return *channels_[i]; }

 private:
  std::array<std::unique_ptr<SimChannel>, 2> channels_;
  std::array<std::vector<SimLinkEnd>, 2> ends_;
};

}  // namespace turnpike::lab
