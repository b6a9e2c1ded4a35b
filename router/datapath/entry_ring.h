// SPDX-License-Identifier: BSD-3-Clause
// A ring of packets, with metadata or without, between two threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

namespace turnpike::router {

inline rte_mbuf* packet_of(rte_mbuf* packet) { return packet; }
template <class Entry>
rte_mbuf* packet_of(const Entry& entry) {
  return entry.mbuf;
}

/// One producer, one consumer. Owns the packets in it.
template <class Entry>
class EntryRing {
 public:
  static constexpr uint32_t kSlots = 1023;

  /// B of EAL's memory.
  static size_t memory() {
    return static_cast<size_t>(rte_ring_get_memsize_elem(kEntry, kSlots + 1));
  }
  /// Null: no memory. `socket`: NUMA node of the memory; -1: any.
  static std::unique_ptr<EntryRing> make(int socket) {
    void* const memory = rte_malloc_socket("entries", EntryRing::memory(), 64, socket);
    if (memory == nullptr) return nullptr;
    auto* ring = static_cast<rte_ring*>(memory);
    if (rte_ring_init(ring, "entries", kSlots + 1, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
      rte_free(memory);
      return nullptr;
    }
    return std::unique_ptr<EntryRing>(new EntryRing(ring));
  }
  ~EntryRing() {
    Entry entry{};
    while (pop(entry)) rte_pktmbuf_free(packet_of(entry));
    rte_free(ring_);
  }
  EntryRing(const EntryRing&) = delete;
  EntryRing& operator=(const EntryRing&) = delete;

  /// False: no free slot, the caller keeps the packet.
  bool push(const Entry& entry) {
    return rte_ring_sp_enqueue_elem(ring_, const_cast<Entry*>(&entry), kEntry) == 0;
  }
  /// False: empty.
  bool pop(Entry& entry) { return pop({&entry, 1}) == 1; }
  /// Takes up to out.size() entries; returns how many.
  unsigned pop(std::span<Entry> out) {
    return rte_ring_sc_dequeue_burst_elem(ring_, out.data(), kEntry,
                                          static_cast<unsigned>(out.size()), nullptr);
  }
  [[nodiscard]] unsigned count() const { return rte_ring_count(ring_); }
  [[nodiscard]] unsigned free_slots() const { return rte_ring_free_count(ring_); }
  [[nodiscard]] bool empty() const { return rte_ring_empty(ring_) != 0; }

 private:
  // NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer may be all of an entry
  static constexpr unsigned kEntry = sizeof(Entry);  // B

  explicit EntryRing(rte_ring* ring) : ring_(ring) {}
  rte_ring* ring_;
};

}  // namespace turnpike::router
