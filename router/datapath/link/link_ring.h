// SPDX-License-Identifier: BSD-3-Clause
// Rings that carry packets from a worker to the owner of the egress link.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "common/protocols/link_law.h"
#include "common/units/units.h"

namespace turnpike::router {

/// A queued packet with all fields that the shaper needs: saves a cache miss on the mbuf.
struct QueuedPacket {
  rte_mbuf* mbuf = nullptr;
  Nanos time{0};            // of its arrival
  uint32_t size = 0;        // B on the link
  uint16_t congestion = 0;  // offset of the congestion header; 0: none
  uint8_t opens = 0;        // SYN
  uint8_t queue_class = 0;
};
static_assert(sizeof(QueuedPacket) == 24);

/// A ring for each class of queue, with one producer and one consumer.
class LinkRing {
 public:
  static constexpr uint32_t kFirstSlots = 255;  // initial slots of a growing ring

  /// Every ring holds at least `slots` packets. With `growing` it starts with kFirstSlots and grows
  /// as necessary: only if one thread is both producer and consumer. Null: no memory.
  static std::unique_ptr<LinkRing> make(uint32_t slots, int socket, unsigned classes = 1,
                                        bool growing = false) {
    std::unique_ptr<LinkRing> h(new LinkRing);
    h->socket_ = socket;
    h->growing_ = growing;
    for (unsigned c = 0; c < classes; ++c) {
      h->rings_[c] = h->make_ring(growing ? std::min(slots, kFirstSlots) : slots);
      if (!h->rings_[c]) return nullptr;
    }
    return h;
  }

  /// Whether every queue has room for `slots` packets, now or by growing.
  [[nodiscard]] bool holds(uint32_t slots) const {
    return growing_ || rte_ring_get_capacity(rings_[0].get()) >= slots;
  }
  /// Exchanges the packets and the slots of a class with another ring's. No thread may use either.
  void exchange(LinkRing& other, unsigned queue_class) {
    std::swap(rings_[queue_class], other.rings_[queue_class]);
  }

  /// Enqueues from the batch's front; returns how many fit. Producer only.
  unsigned push(std::span<const QueuedPacket> batch, unsigned queue_class = 0) {
    if (growing_ && rte_ring_free_count(rings_[queue_class].get()) < batch.size())
      grow(queue_class);
    return rte_ring_sp_enqueue_burst_elem(rings_[queue_class].get(), batch.data(),
                                          sizeof(QueuedPacket), static_cast<unsigned>(batch.size()),
                                          nullptr);
  }
  /// Dequeues up to out.size() packets; returns how many. Consumer only.
  unsigned pop(std::span<QueuedPacket> out, unsigned queue_class = 0) {
    return rte_ring_sc_dequeue_burst_elem(rings_[queue_class].get(), out.data(),
                                          sizeof(QueuedPacket), static_cast<unsigned>(out.size()),
                                          nullptr);
  }
  /// B of memory of a ring with `slots` slots.
  static size_t memory(uint32_t slots) {
    return static_cast<size_t>(rte_ring_get_memsize_elem(sizeof(QueuedPacket), ring_size(slots)));
  }

 private:
  struct Free {
    void operator()(rte_ring* r) const { rte_free(r); }
  };
  using Ring = std::unique_ptr<rte_ring, Free>;
  LinkRing() = default;

  static uint32_t ring_size(uint32_t slots) { return rte_align32pow2(slots + 1); }

  /// Null: no memory.
  [[nodiscard]] Ring make_ring(uint32_t slots) const {
    const ssize_t bytes = rte_ring_get_memsize_elem(sizeof(QueuedPacket), ring_size(slots));
    if (bytes < 0) return nullptr;
    void* memory = rte_malloc_socket("ring", static_cast<size_t>(bytes), 64, socket_);
    Ring ring(static_cast<rte_ring*>(memory));
    if (memory == nullptr ||
        rte_ring_init(ring.get(), "ring", ring_size(slots), RING_F_SP_ENQ | RING_F_SC_DEQ) != 0)
      return nullptr;
    return ring;
  }

  /// Doubles the slots; keeps the old ring if there is no memory.
  void grow(unsigned queue_class) {
    Ring larger = make_ring(2 * rte_ring_get_size(rings_[queue_class].get()) - 1);
    if (!larger) return;
    std::array<QueuedPacket, 32> moved;
    while (const unsigned n = pop(moved, queue_class))
      rte_ring_sp_enqueue_burst_elem(larger.get(), moved.data(), sizeof(QueuedPacket), n, nullptr);
    rings_[queue_class] = std::move(larger);
  }

  std::array<Ring, kMaxClasses> rings_;
  int socket_ = -1;
  bool growing_ = false;
};

}  // namespace turnpike::router
