// SPDX-License-Identifier: BSD-3-Clause
// Carries packets from the lcore that has received them to the one whose customer or flow they
// belong to.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rte_mbuf.h>

#include "common/metrics/counter.h"
#include "router/datapath/burst.h"
#include "router/datapath/entry_ring.h"

namespace turnpike::gateway {

/// A ring for each pair of lcores.
///
/// A customer whose packets come faster than their lcore takes them leaves room for others: once a
/// ring is crowded, none has more packets in it than slots are free (dynamic thresholds, Choudhury
/// and Hahne), so that one alone has half of it.
class HandOver {
 public:
  static constexpr unsigned kShares = 64;  // customers are counted by their number modulo this

  /// A packet as it was before it entered a tunnel or was received from one. The routes may have
  /// changed since its lookup.
  struct Packet {
    rte_mbuf* mbuf = nullptr;
    router::PacketInfo info;
    uint64_t share = 0;  // of a ring, less than kShares
  };
  using Ring = router::EntryRing<Packet>;
  static constexpr uint32_t kCrowded = Ring::kSlots / 4;  // packets in a ring

  /// Null: no memory.
  static std::unique_ptr<HandOver> make(unsigned lcores, int socket) {
    std::unique_ptr<HandOver> made(new HandOver(lcores));
    for (unsigned to = 0; to < lcores; ++to)
      for (unsigned from = 0; from < lcores; ++from) {
        std::unique_ptr<Ring> ring = from == to ? nullptr : Ring::make(socket);
        if (from != to && ring == nullptr) return nullptr;
        made->channels_.push_back(ring == nullptr ? nullptr
                                                  : std::make_unique<Channel>(std::move(ring)));
      }
    return made;
  }
  /// B of EAL's memory.
  static size_t memory(unsigned lcores) { return size_t{lcores} * (lcores - 1) * Ring::memory(); }

  [[nodiscard]] unsigned lcores() const { return lcores_; }
  /// Called by lcore `from`. False: the ring, or the packet's share of it, is full; the caller
  /// keeps the packet.
  bool push(unsigned from, unsigned to, const Packet& packet) {
    Channel& channel = *channels_[to * lcores_ + from];
    uint32_t& pushed = channel.pushed[packet.share];
    if (const uint32_t waiting = channel.ring->count(); waiting > kCrowded) [[unlikely]] {
      const uint32_t own = pushed - static_cast<uint32_t>(channel.taken[packet.share].read());
      if (own >= Ring::kSlots - waiting) return false;
    }
    if (!channel.ring->push(packet)) return false;
    ++pushed;
    return true;
  }
  /// Takes up to out.size() packets; returns how many. Called by lcore `to`.
  unsigned pop(unsigned from, unsigned to, std::span<Packet> out) {
    Channel& channel = *channels_[to * lcores_ + from];
    const unsigned n = channel.ring->pop(out);
    for (const Packet& packet : out.first(n)) channel.taken[packet.share].add();
    return n;
  }
  /// Whether packets wait for an lcore. Any thread.
  [[nodiscard]] bool waiting(unsigned to) const {
    for (unsigned from = 0; from < lcores_; ++from)
      if (from != to && !channels_[to * lcores_ + from]->ring->empty()) return true;
    return false;
  }

 private:
  // From one lcore to another.
  struct Channel {
    explicit Channel(std::unique_ptr<Ring> to) : ring(std::move(to)) {}

    std::unique_ptr<Ring> ring;
    alignas(64) std::array<uint32_t, kShares> pushed{};         // by share; its producer's
    alignas(64) std::array<metrics::Counter, kShares> taken{};  // likewise, its consumer's
  };

  explicit HandOver(unsigned lcores) : lcores_(lcores) {}

  unsigned lcores_;
  std::vector<std::unique_ptr<Channel>> channels_;  // by consumer, then producer; null: one lcore
};

/// Takes what has been handed over to one lcore.
class Inbox {
 public:
  Inbox(HandOver& rings, unsigned own) : rings_(rings), own_(own) {}

  /// Fills a burst with packets that have come by the same link. False: nothing is left in this
  /// round, and the next call begins another one. A round takes a burst from each ring: others may
  /// push as fast as this lcore takes.
  bool fill(router::Burst& burst, Nanos now) {
    while (first_ == end_) {
      if (next_ring_ >= rings_.lcores()) {
        next_ring_ = 0;
        return false;
      }
      const unsigned from = next_ring_++;
      first_ = 0;
      end_ = from == own_ ? 0 : rings_.pop(from, own_, taken_);
    }
    const uint16_t link = taken_[first_].info.input;
    unsigned n = 0;
    for (; first_ < end_ && taken_[first_].info.input == link; ++n) {
      const HandOver::Packet& packet = taken_[first_++];
      burst.mbufs[n] = packet.mbuf;
      burst.info[n] = packet.info;
    }
    burst.begin(n, link, now);
    return true;
  }

 private:
  HandOver& rings_;
  unsigned own_;
  unsigned next_ring_ = 0;        // lcore whose ring comes next
  unsigned first_ = 0, end_ = 0;  // of the packets in taken_ that are in no burst yet
  std::array<HandOver::Packet, router::kBurst> taken_;
};

}  // namespace turnpike::gateway
