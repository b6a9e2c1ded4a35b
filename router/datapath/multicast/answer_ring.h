// SPDX-License-Identifier: BSD-3-Clause
// Carries answers from a worker to the one that joins the answers of all trees.
#pragma once

#include <cstdint>
#include <memory>

#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "router/datapath/burst.h"

namespace turnpike::router {

/// One producer, one consumer.
class AnswerRing {
 public:
  struct Entry {
    rte_mbuf* mbuf = nullptr;
    PacketInfo info;
    uint64_t tree = 0;  // index into Tables::trees()
  };
  static constexpr uint32_t kSlots = 1023;

  /// Null: no memory.
  static std::unique_ptr<AnswerRing> make(int socket) {
    const ssize_t bytes = rte_ring_get_memsize_elem(sizeof(Entry), kSlots + 1);
    void* memory = rte_malloc_socket("answers", static_cast<size_t>(bytes), 64, socket);
    if (memory == nullptr) return nullptr;
    auto* ring = static_cast<rte_ring*>(memory);
    if (rte_ring_init(ring, "answers", kSlots + 1, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
      rte_free(memory);
      return nullptr;
    }
    return std::unique_ptr<AnswerRing>(new AnswerRing(ring));
  }
  ~AnswerRing() { rte_free(ring_); }
  AnswerRing(const AnswerRing&) = delete;
  AnswerRing& operator=(const AnswerRing&) = delete;

  /// False: no free slot.
  bool push(const Entry& entry) {
    return rte_ring_sp_enqueue_elem(ring_, const_cast<Entry*>(&entry), sizeof entry) == 0;
  }
  /// False: empty.
  bool pop(Entry& entry) { return rte_ring_sc_dequeue_elem(ring_, &entry, sizeof entry) == 0; }

 private:
  explicit AnswerRing(rte_ring* ring) : ring_(ring) {}
  rte_ring* ring_;
};

}  // namespace turnpike::router
