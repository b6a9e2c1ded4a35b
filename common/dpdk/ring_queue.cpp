// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/ring_queue.h"

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "common/dpdk/names.h"

namespace turnpike {

uint16_t RingQueue::rx(Nanos /*now*/, std::span<rte_mbuf*> out) {
  return static_cast<uint16_t>(rte_ring_sc_dequeue_burst(
      rx_, reinterpret_cast<void**>(out.data()), static_cast<unsigned>(out.size()), nullptr));
}

uint16_t RingQueue::tx(Nanos /*now*/, std::span<rte_mbuf*> burst) {
  return static_cast<uint16_t>(rte_ring_sp_enqueue_burst(
      tx_, reinterpret_cast<void**>(burst.data()), static_cast<unsigned>(burst.size()), nullptr));
}

Nanos RingQueue::next_deadline() const { return rte_ring_empty(rx_) != 0 ? kNever : Nanos(0); }

void RingCable::Free::operator()(rte_ring* ring) const {
  void* packet = nullptr;
  while (rte_ring_sc_dequeue(ring, &packet) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(packet));
  rte_ring_free(ring);
}

RingCable::RingCable(Ring a, Ring b)
    : rings_{std::move(a), std::move(b)},
      ends_{std::make_unique<RingQueue>(rings_[0].get(), rings_[1].get()),
            std::make_unique<RingQueue>(rings_[1].get(), rings_[0].get())} {}

tl::expected<RingCable, std::string> RingCable::create(std::string_view stem, uint32_t capacity,
                                                       int socket) {
  std::array<Ring, 2> rings;
  for (Ring& ring : rings) {
    // Exact size: without it a ring of 2^n slots takes one packet less.
    ring.reset(rte_ring_create(unique_name(stem).c_str(), capacity, socket,
                               RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ));
    if (ring == nullptr) {
      return tl::unexpected("no ring for " + std::to_string(capacity) +
                            " packets: " + rte_strerror(rte_errno));
    }
  }
  return RingCable(std::move(rings[0]), std::move(rings[1]));
}

uint32_t RingCable::inside() const {
  return rte_ring_count(rings_[0].get()) + rte_ring_count(rings_[1].get());
}

}  // namespace turnpike
