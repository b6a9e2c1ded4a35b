// SPDX-License-Identifier: BSD-3-Clause
// A ring of packets between a worker and the punt thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

namespace turnpike::router {

/// One producer, one consumer. rte_mbuf::port of a packet is the index of its link.
class PacketRing {
 public:
  static constexpr uint32_t kSlots = 1023;

  /// Null: no memory.
  static std::unique_ptr<PacketRing> make(int socket) {
    const ssize_t bytes = rte_ring_get_memsize(kSlots + 1);
    void* memory = rte_malloc_socket("punt", static_cast<size_t>(bytes), 64, socket);
    if (memory == nullptr) return nullptr;
    auto* ring = static_cast<rte_ring*>(memory);
    if (rte_ring_init(ring, "punt", kSlots + 1, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
      rte_free(memory);
      return nullptr;
    }
    return std::unique_ptr<PacketRing>(new PacketRing(ring));
  }
  ~PacketRing() {
    rte_mbuf* m = nullptr;
    while (pop({&m, 1}) == 1) rte_pktmbuf_free(m);
    rte_free(ring_);
  }
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;

  /// False: no free slot, the caller keeps the packet.
  bool push(rte_mbuf* m) { return rte_ring_sp_enqueue(ring_, m) == 0; }
  /// Takes up to out.size() packets; returns how many.
  unsigned pop(std::span<rte_mbuf*> out) {
    return rte_ring_sc_dequeue_burst(ring_, reinterpret_cast<void**>(out.data()),
                                     static_cast<unsigned>(out.size()), nullptr);
  }
  [[nodiscard]] bool empty() const { return rte_ring_empty(ring_) != 0; }
  [[nodiscard]] unsigned free_slots() const { return rte_ring_free_count(ring_); }

 private:
  explicit PacketRing(rte_ring* ring) : ring_(ring) {}
  rte_ring* ring_;
};

}  // namespace turnpike::router
