// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/tunnel.h"

#include <algorithm>
#include <cstring>

#include <rte_mbuf.h>

#include "common/dpdk/buffer.h"
#include "common/wire/ecn.h"

namespace turnpike::gateway {
namespace {

uint8_t* ip_of(rte_mbuf* m) { return rte_pktmbuf_mtod(m, uint8_t*); }

/// Whether this tunnel may write before and behind the packet's bytes.
bool own(const rte_mbuf& m) { return RTE_MBUF_DIRECT(&m) && rte_mbuf_refcnt_read(&m) == 1; }

}  // namespace

void Tunnel::put(rte_mbuf* packet, uint32_t host, uint32_t flow, Nanos now) {
  arrivals_.count(packet->pkt_len + parts_.headers, now);
  traffic_.offered_bytes.add(packet->pkt_len);
  last_packet_ = now;
  queue_.put(packet, host, flow, parts_.limit, now);
  update(now);
}

void Tunnel::update(Nanos now) {
  const uint64_t waiting = queue_.bytes() + uint64_t{queue_.packets()} * parts_.headers;
  set_waiting(waiting);
  set_urgent(queue_.urgent() > 0);
  set_demand(std::min(most_, arrivals_.rate(static_cast<double>(waiting))));
  const bool bounded = waiting > 0 && most_ < std::numeric_limits<double>::infinity();
  at_most_.store(bounded && most_ < wanted(now), std::memory_order_relaxed);
}

/// The queue has given up a packet of `size` B, to be carried.
void Tunnel::count_taken(uint32_t size) {
  const auto waited = static_cast<uint64_t>(queue_.sojourn().count());
  traffic_.carried_bytes.add(size);
  carried_.add(size);
  traffic_.waits.record(static_cast<double>(waited));
  parts_.waits.record(waited);
}

// The first datagram's buffer carries the packet. Small datagrams that wait anyway are copied
// behind it, as long as they have the same ECN field, which the packet's own header has as well. A
// copy of a larger one costs more than a packet.
Tunnel::Taken Tunnel::take(uint32_t room, uint16_t headers, Nanos now) {
  rte_mbuf* const first = queue_.take(parts_.codel, now);
  if (first == nullptr) {
    update(now);
    return {};
  }
  count_taken(first->pkt_len);
  const uint8_t ecn = wire::ecn_of(ip_of(first));
  const uint32_t most = std::min<uint32_t>(room, to_.inner_mtu);
  uint32_t left = most - std::min(most, first->pkt_len);
  while (first->nb_segs == 1 && own(*first)) {
    const uint32_t fits =
        std::min({left, FairQueue::kSmall, uint32_t{rte_pktmbuf_tailroom(first)}});
    rte_mbuf* const more = queue_.take(parts_.codel, now, {.size = fits, .ecn = ecn});
    if (more == nullptr) break;
    const uint32_t size = more->pkt_len;
    count_taken(size);
    auto* const end =
        reinterpret_cast<uint8_t*>(rte_pktmbuf_append(first, static_cast<uint16_t>(size)));
    if (const void* bytes = rte_pktmbuf_read(more, 0, size, end); bytes != end)
      std::memcpy(end, bytes, size);
    left -= size;
    give_back(more);
  }
  update(now);
  return {.buffer = with_room(first, headers), .ecn = ecn};
}

// A packet whose buffer has no room for headers, or is shared, gets a buffer before it.
rte_mbuf* Tunnel::with_room(rte_mbuf* packet, uint16_t headers) {
  if (own(*packet) && rte_pktmbuf_headroom(packet) >= headers) return packet;
  rte_mbuf* const front = rte_pktmbuf_alloc(parts_.pool);
  if (front != nullptr) {
    // Behind the headroom of an empty buffer is all the room that headers need.
    front->data_off = static_cast<uint16_t>(front->data_off + headers);
    if (rte_pktmbuf_chain(front, packet) == 0) return front;
  }
  rte_pktmbuf_free(front);
  rte_pktmbuf_free(packet);
  parts_.out_of_buffers.add();
  return nullptr;
}

uint32_t Tunnel::clear() {
  const uint32_t count = queue_.clear();
  update(last_packet_);
  return count;
}

}  // namespace turnpike::gateway
