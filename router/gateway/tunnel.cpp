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

/// Copies a whole packet, of any segments.
void copy(const rte_mbuf& m, void* to) {
  if (const void* bytes = rte_pktmbuf_read(&m, 0, m.pkt_len, to); bytes != to)
    std::memcpy(to, bytes, m.pkt_len);
}

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
  carried_.add(size);
  traffic_.waits.record(static_cast<double>(waited));
  parts_.waits.record(waited);
}

// The first datagram's buffer carries the packet.
Tunnel::Taken Tunnel::take(uint32_t room, uint16_t headers, Nanos now) {
  rte_mbuf* const first = queue_.take(parts_.codel, now);
  if (first == nullptr) {
    update(now);
    return {};
  }
  count_taken(first->pkt_len);
  revalued = false;
  const uint8_t ecn = wire::ecn_of(ip_of(first));
  if (queue_.small() > 0) add_small(*first, ecn, room, now);
  if (queue_.packets() == 0 && !queue_.idle())
    queue_.take(parts_.codel, now);  // there is none: idle flows end their rounds
  update(now);
  return {.buffer = sealed() ? with_seal(first, headers) : with_room(first, headers), .ecn = ecn};
}

// Small datagrams that wait anyway are copied behind the first one, as long as they have the same
// ECN field, which the packet's own header has as well. A copy of a larger one costs more than a
// packet.
void Tunnel::add_small(rte_mbuf& first, uint8_t ecn, uint32_t room, Nanos now) {
  const auto overhead = static_cast<uint32_t>(sealed() ? Seal::kOverhead : 0);
  const uint32_t most = std::min<uint32_t>(room - overhead, to_.inner_mtu);
  uint32_t left = most - std::min(most, first.pkt_len);
  while (first.nb_segs == 1 && own(first)) {
    const uint32_t tail = std::max(uint32_t{rte_pktmbuf_tailroom(&first)}, overhead) - overhead;
    const uint32_t fits = std::min({left, FairQueue::kSmall, tail});
    rte_mbuf* const more = queue_.take(parts_.codel, now, {.size = fits, .ecn = ecn});
    if (more == nullptr) return;
    const uint32_t size = more->pkt_len;
    count_taken(size);
    copy(*more, rte_pktmbuf_append(&first, static_cast<uint16_t>(size)));
    left -= size;
    give_back(more);
  }
}

bool Tunnel::seal(std::span<uint8_t> payload, const Headers& headers) {
  if (parts_.seal->seal(peer(), payload, headers)) return true;
  parts_.totals.not_sealed.add();
  return false;
}

// A packet whose buffer has no room around it, is shared or has several segments is copied to
// another: it is encrypted in place.
rte_mbuf* Tunnel::with_seal(rte_mbuf* packet, uint16_t headers) {
  if (own(*packet) && packet->nb_segs == 1 &&
      rte_pktmbuf_headroom(packet) >= headers + Seal::kFront &&
      rte_pktmbuf_tailroom(packet) >= AesGcm::kTagSize) {
    rte_pktmbuf_prepend(packet, Seal::kFront);
    rte_pktmbuf_append(packet, AesGcm::kTagSize);
    return packet;
  }
  rte_mbuf* whole = rte_pktmbuf_alloc(parts_.pool);
  if (whole != nullptr) {
    whole->data_off = std::max(whole->data_off, headers);
    const auto size = static_cast<uint16_t>(packet->pkt_len + Seal::kOverhead);
    if (char* const bytes = rte_pktmbuf_append(whole, size); bytes != nullptr) {
      copy(*packet, bytes + Seal::kFront);
    } else {
      rte_pktmbuf_free(whole);
      whole = nullptr;
    }
  }
  rte_pktmbuf_free(packet);
  if (whole == nullptr) parts_.totals.out_of_buffers.add();
  return whole;
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
  parts_.totals.out_of_buffers.add();
  return nullptr;
}

uint32_t Tunnel::clear() {
  const uint32_t count = queue_.clear();
  update(last_packet_);
  return count;
}

}  // namespace turnpike::gateway
