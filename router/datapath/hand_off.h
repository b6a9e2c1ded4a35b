// SPDX-License-Identifier: BSD-3-Clause
// Packets on their way from one worker to the one that drains their link.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "common/protocols/link_law.h"
#include "common/units/units.h"

namespace turnpike::router {

/// One queued packet with all that draining needs, so that its own cache lines are left alone.
struct Queued {
  rte_mbuf* mbuf = nullptr;
  Nanos time{0};            // when it came
  uint32_t size = 0;        // B on the link
  uint16_t congestion = 0;  // offset of the congestion header; 0: none
  uint8_t opens = 0;        // SYN
  uint8_t queue_class = 0;
};
static_assert(sizeof(Queued) == 24);

/// A ring for each class of queue, with one producer and one consumer.
class HandOff {
 public:
  /// Null where there is no memory. Every ring holds at least `slots` packets.
  static std::unique_ptr<HandOff> make(uint32_t slots, int socket, unsigned classes = 1) {
    const uint32_t n = rte_align32pow2(slots + 1);
    const ssize_t bytes = rte_ring_get_memsize_elem(sizeof(Queued), n);
    if (bytes < 0) return nullptr;
    std::unique_ptr<HandOff> h(new HandOff);
    for (unsigned c = 0; c < classes; ++c) {
      void* memory = rte_malloc_socket("hand_off", static_cast<size_t>(bytes), 64, socket);
      if (memory == nullptr) return nullptr;
      h->rings_[c].reset(static_cast<rte_ring*>(memory));
      if (rte_ring_init(h->rings_[c].get(), "hand_off", n, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0)
        return nullptr;
    }
    return h;
  }

  /// Takes from the front; returns how many.
  unsigned push(std::span<const Queued> batch, unsigned queue_class = 0) {
    return rte_ring_sp_enqueue_burst_elem(rings_[queue_class].get(), batch.data(), sizeof(Queued),
                                          static_cast<unsigned>(batch.size()), nullptr);
  }
  unsigned pop(std::span<Queued> out, unsigned queue_class = 0) {
    return rte_ring_sc_dequeue_burst_elem(rings_[queue_class].get(), out.data(), sizeof(Queued),
                                          static_cast<unsigned>(out.size()), nullptr);
  }

 private:
  struct Free {
    void operator()(rte_ring* r) const { rte_free(r); }
  };
  HandOff() = default;
  std::array<std::unique_ptr<rte_ring, Free>, kMaxClasses> rings_;
};

}  // namespace turnpike::router
