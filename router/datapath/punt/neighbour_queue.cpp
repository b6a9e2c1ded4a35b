// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/punt/neighbour_queue.h"

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {

std::unique_ptr<NeighbourQueue> NeighbourQueue::make(int socket) {
  const ssize_t bytes = rte_ring_get_memsize_elem(sizeof(NeighbourRequest), kRequests + 1);
  void* memory = rte_malloc_socket("neighbours", static_cast<size_t>(bytes), 64, socket);
  if (memory == nullptr) return nullptr;
  auto* ring = static_cast<rte_ring*>(memory);
  if (rte_ring_init(ring, "neighbours", kRequests + 1, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
    rte_free(memory);
    return nullptr;
  }
  return std::unique_ptr<NeighbourQueue>(new NeighbourQueue(ring));
}

NeighbourQueue::~NeighbourQueue() { rte_free(requests_); }

bool NeighbourQueue::add(rte_mbuf* m, const PacketInfo& p, Nanos now) {
  if (count_ == kTotal) return false;
  Waiting& w = slots_[count_];
  w.destination = destination_of(frame_of(m) + p.l3, p.has(kIpv6));
  uint8_t& others = by_hash_[hash(w.destination)];
  if (others >= kPerNeighbour) return false;
  const NeighbourRequest request{
      .destination = w.destination, .link = p.link, .hop = p.hop != nullptr ? p.hop->id : 0};
  // For every packet, since others of the same hash may have another destination.
  if (rte_ring_sp_enqueue_elem(requests_, const_cast<NeighbourRequest*>(&request),
                               sizeof request) != 0)
    return false;
  w.mbuf = m;
  w.since = now;
  w.info = p;
  w.info.hop = nullptr;
  if (count_ == 0) next_ = now + kInterval;
  ++count_;
  ++others;
  entered_.add();
  return true;
}

unsigned NeighbourQueue::hash(const config::Ipv6& address) {
  uint64_t halves[2];
  std::memcpy(halves, address.data(), sizeof halves);
  return static_cast<unsigned>((halves[0] ^ halves[1]) * 0x9e3779b97f4a7c15 >> 54);
}

}  // namespace turnpike::router
