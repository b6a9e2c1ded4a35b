// SPDX-License-Identifier: BSD-3-Clause
// Moves buckets of a port's redirection table (RSS) to another queue without reordering a flow, and
// counts packets by bucket.
//
// A NIC hashes a packet; the last bits of the hash are the packet's bucket, and the redirection
// table has the bucket's queue. When the table changes, packets of a moved bucket arrive at the new
// queue while older ones may still be in the old queue's receive ring, at the lcore that polls it
// (the source), in its links' queues and in its transmit rings. Therefore:
//
//     kPark    the new queue's lcore (the target) begins to park the bucket's packets: it keeps
//              them in a FIFO instead of passing them on. Once it does, the control thread writes
//              the table.
//     kDrain   the source takes all packets that its receive ring had when the table had certainly
//              changed, forwards them, and waits until they have left: see Departures in
//              router/datapath/egress/departures.h.
//     kLeft    each lcore passes once more through its receive function, so that an lcore that
//              shapes a link has all packets of the source in view. Then the target passes on the
//              parked packets first, and all others after them.
//
// Parking by bucket delays only flows that move. Leaving packets in the receive ring of the new
// queue instead would need no FIFO, but delays all of its flows, and a ring of 1,024 descriptors is
// full after 0.1 ms at 10 million packets/s.
//
// A move is one source, one target and one port; a router has one at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rte_mbuf.h>

#include "common/units/units.h"

namespace turnpike {

/// Shared by the lcores that poll a router's ports, and by the control thread. Queue q of each port
/// is polled by lcore q.
class RssSteering {
 public:
  /// Time from the change of the table until the last packet that a NIC has assigned by the old one
  /// is in a receive ring. An assumption: DPDK has no call that tells. NICs take microseconds,
  /// since rings drop what does not fit (rte_eth_rxconf::rx_drop_en) instead of holding up the NIC.
  static constexpr Nanos kTableDelay = 1_ms;
  static constexpr uint32_t kSlots = 2048;  // packets that may be parked
  static constexpr uint16_t kMaxBuckets = 2048;

  struct Move {
    unsigned port = 0;          // as add_port() numbers it
    uint16_t from = 0, to = 0;  // queues
    std::vector<uint16_t> buckets = {};
    uint32_t rx_descriptors = 0;  // of the source's receive ring
    // Until a packet that the source has given to a port has left: so many packets later by the
    // same queue, or so much later.
    uint32_t tx_descriptors = 0;
    Nanos tx_time{0};
  };

  struct IsEmpty {
    bool operator()() const { return true; }
  };

  RssSteering() = default;
  RssSteering(const RssSteering&) = delete;
  RssSteering& operator=(const RssSteering&) = delete;
  ~RssSteering() { discard(); }

  // --- the control thread, before the lcores poll
  /// A port with a redirection table of `buckets` (2^n) and `queues`; returns its number.
  unsigned add_port(uint16_t buckets, uint16_t queues);

  // --- the control thread
  /// Begins and ends counting. Not during a move.
  void start_counting() { word_.store(Word{.phase = kCount}.packed(), std::memory_order_release); }
  void stop_counting() { word_.store(0, std::memory_order_release); }
  /// Begins a move: the target parks from now on. Not while busy().
  void begin(const Move& move);
  /// Whether the target parks, so that the table may be written.
  [[nodiscard]] bool parks() const;
  /// Says that the table was written before `now`.
  void table_written(Nanos now);
  /// Frees packets that are parked and counts them as dropped. Once the lcores have ended.
  void discard();
  /// Whether a move or a count goes on. The target ends a move.
  [[nodiscard]] bool busy() const { return on(); }

  // --- any thread
  /// Packets of a bucket received by a queue while counting.
  [[nodiscard]] uint64_t counted(unsigned port, uint16_t queue, uint16_t bucket) const;
  /// Packets of moved buckets that the port has not passed on: the FIFO had no room.
  [[nodiscard]] uint64_t dropped(unsigned port) const;
  /// Packets parked at present.
  [[nodiscard]] uint32_t parked() const { return parked_.load(std::memory_order_relaxed); }

  // --- the lcores
  /// Whether rx() has more to do than to receive: one predictable branch per burst.
  [[nodiscard]] bool on() const { return word_.load(std::memory_order_relaxed) != 0; }
  /// Receives by `receive`, a function that takes a span of buffers and returns how many it filled.
  /// `empty`: whether the receive ring is empty where this has returned 0; a driver receives
  /// nothing as well when the pool is empty.
  template <class Receive, class Empty = IsEmpty>
  uint16_t rx(unsigned port, uint16_t queue, Nanos now, std::span<rte_mbuf*> out, Receive&& receive,
              Empty&& empty = {}) {
    if (const uint16_t n = release(port, queue, out); n > 0) return n;
    const uint16_t n = receive(out);
    return observe(port, queue, now, out.first(n), n == 0 && empty());
  }
  /// Whether lcore `source` has received all that it had to, and is to call left() once these
  /// packets have left. For the end of a poll.
  [[nodiscard]] bool leaving(unsigned source) const {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return word != 0 && Word::of(word).phase == kDrain && Word::of(word).from == source && taken_;
  }
  /// The source's part has ended at `now`.
  void left(Nanos now);
  /// Time of the last call of left(): packets of its source have arrived before.
  [[nodiscard]] Nanos last_left() const { return Nanos(left_at_.load(std::memory_order_relaxed)); }
  [[nodiscard]] const Move& move() const { return move_; }

 private:
  enum Phase : uint8_t { kOff, kCount, kPark, kDrain, kLeft };
  // All that an lcore decides by is in one atomic word: it never sees halves of two moves.
  struct Word {
    uint16_t number = 0;  // of the move
    uint16_t from = 0, to = 0;
    uint8_t port = 0;
    Phase phase = kOff;

    [[nodiscard]] uint64_t packed() const {
      return uint64_t{number} << 48 | uint64_t{from} << 32 | uint64_t{to} << 16 |
             uint64_t{port} << 8 | phase;
    }
    static Word of(uint64_t w) {
      return {.number = static_cast<uint16_t>(w >> 48),
              .from = static_cast<uint16_t>(w >> 32),
              .to = static_cast<uint16_t>(w >> 16),
              .port = static_cast<uint8_t>(w >> 8),
              .phase = static_cast<Phase>(w & 0xff)};
    }
  };
  [[nodiscard]] Word word() const { return Word::of(word_.load(std::memory_order_acquire)); }

  // Written by the lcore that polls the queue.
  struct alignas(64) Queue {
    std::vector<std::atomic<uint64_t>> packets;  // by bucket
    std::atomic<uint64_t> dropped{0};
    std::atomic<uint16_t> passed{0};  // number of the last move in which it has seen kLeft
  };
  struct Port {
    uint16_t mask = 0;
    std::vector<Queue> queues;
  };

  uint16_t release(unsigned port, uint16_t queue, std::span<rte_mbuf*> out);
  uint16_t observe(unsigned port, uint16_t queue, Nanos now, std::span<rte_mbuf*> burst,
                   bool empty);
  void count(Queue& queue, uint16_t mask, std::span<rte_mbuf*> burst);
  void watch_source(Nanos now, size_t received, bool empty);
  uint16_t park(Port& port, Queue& queue, std::span<rte_mbuf*> burst);
  [[nodiscard]] bool all_passed(const Port& port, uint16_t number) const;
  [[nodiscard]] bool moves(uint16_t bucket) const {
    return (buckets_[bucket / 64] >> (bucket % 64) & 1) != 0;
  }

  std::atomic<uint64_t> word_{0};
  std::atomic<uint16_t> parking_{0};  // number of the last move whose target parks
  std::atomic<int64_t> left_at_{0};
  std::atomic<uint32_t> parked_{0};
  std::vector<std::unique_ptr<Port>> ports_;

  // Written by the control thread between two moves, or by the lcore whose turn the phase is.
  uint16_t number_ = 0;
  Move move_;
  std::array<uint64_t, kMaxBuckets / 64> buckets_{};  // set of those that move
  Nanos written_{0};
  bool taken_ = false;     // the source's receive ring is past the change
  uint64_t received_ = 0;  // by the source since then
  std::unique_ptr<rte_mbuf*[]> fifo_ = std::make_unique<rte_mbuf*[]>(kSlots);
  uint32_t head_ = 0, count_ = 0;
};

}  // namespace turnpike
