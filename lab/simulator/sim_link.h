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

/// Packets on their way in one direction, distributed over the receiving node's queues by flow.
class SimChannel {
 public:
  /// `receivers`: nodes to wake, one per queue.
  SimChannel(const SimLinkOptions& options, Schedule& schedule, std::vector<uint32_t> receivers);
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
  uint16_t receive(size_t queue, Nanos now, std::span<rte_mbuf*> out);
  [[nodiscard]] Nanos next(size_t queue) const { return queues_[queue].next(); }
  [[nodiscard]] uint32_t under_way(size_t queue) const { return queues_[queue].size(); }
  /// Packets that were lost at random.
  [[nodiscard]] uint64_t lost() const { return lost_; }

 private:
  /// Packets in order of arrival; grows as the link fills.
  class Queue {
   public:
    /// Adds a packet that is due no earlier than all others.
    void append(rte_mbuf* packet, Nanos due) {
      if (size() > mask_) grow();
      at(tail_++) = {due, packet};
    }
    /// Inserts a packet before those that are due later.
    void insert(rte_mbuf* packet, Nanos due);
    uint16_t take(Nanos now, std::span<rte_mbuf*> out);
    [[nodiscard]] Nanos next() const { return size() == 0 ? kNever : at(head_).due; }
    [[nodiscard]] uint32_t size() const { return tail_ - head_; }

   private:
    struct Entry {
      Nanos due;
      rte_mbuf* packet;
    };
    [[nodiscard]] Entry& at(uint32_t i) { return entries_[i & mask_]; }
    [[nodiscard]] const Entry& at(uint32_t i) const { return entries_[i & mask_]; }
    void grow();
    uint32_t mask_ = 63;            // one less than its capacity, a power of two
    uint32_t head_ = 0, tail_ = 0;  // unmasked; they wrap
    std::vector<Entry> entries_ = std::vector<Entry>(mask_ + 1);
  };

  [[nodiscard]] size_t queue_of(rte_mbuf* packet) const;
  void launch(rte_mbuf* packet, Nanos leaves);
  template <class Launch>
  uint16_t send_at_rate(Nanos now, std::span<rte_mbuf*> burst, Launch&& launch);

  SimLinkOptions options_;
  bool straight_;          // one receiver gets every packet, in order
  double nanos_per_byte_;  // 0: the sending node paces
  Schedule& schedule_;
  std::vector<uint32_t> receivers_;
  std::vector<Queue> queues_;
  sender::Random random_;
  Nanos free_{0};        // when the wire has sent all packets, rounded down
  double fraction_ = 0;  // ns beyond that
  Nanos latest_{0};      // latest arrival so far: jitter keeps the order
  uint64_t lost_ = 0;
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
  [[nodiscard]] uint32_t held() const override { return in_.under_way(queue_); }

 private:
  SimChannel& in_;
  SimChannel& out_;
  size_t queue_;
};

/// Both directions and all queues at both ends.
class SimLink {
 public:
  /// `wires[i]` leads from end i; `nodes[i]` poll the queues at end i.
  SimLink(const std::array<SimLinkOptions, 2>& wires, Schedule& schedule,
          const std::array<std::vector<uint32_t>, 2>& nodes);
  [[nodiscard]] QueuePair* end(size_t i, size_t queue) { return &ends_[i][queue]; }
  void set_rate(size_t i, double rate) { channels_[i]->set_rate(rate); }
  /// Both directions.
  void set_path(Nanos delay, double loss) {
    for (const auto& channel : channels_) channel->set_path(delay, loss);
  }
  /// The channel that leads from end i.
  [[nodiscard]] const SimChannel& line(size_t i) const { return *channels_[i]; }

 private:
  std::array<std::unique_ptr<SimChannel>, 2> channels_;
  std::array<std::vector<SimLinkEnd>, 2> ends_;
};

}  // namespace turnpike::lab
