// SPDX-License-Identifier: BSD-3-Clause
// Datagrams follow each other without anything between them: each tells its own length.
#include "router/gateway/release.h"

#include <cstring>

#include "common/dpdk/buffer.h"
#include "common/wire/bytes.h"
#include "router/gateway/ecn.h"

namespace turnpike::gateway {
namespace {

/// B of the datagram at `ip`, of which `left` B are there; 0: it is none, or not whole.
uint32_t datagram_size(const uint8_t* ip, uint32_t left) {
  if (left < wire::kIpv4Size) return 0;
  uint32_t size = 0;
  switch (ip[0] >> 4) {
    case 4:
      size = wire::load_be16(ip + wire::kIpv4TotalLengthAt);
      if (size < wire::kIpv4Size) return 0;
      break;
    case 6:
      size = wire::kIpv6Size + wire::load_be16(ip + wire::kIpv6PayloadLengthAt);
      break;
    default:
      return 0;
  }
  return size <= left ? size : 0;
}

void write_ethernet(uint8_t* frame, const wire::Mac& station) {
  std::memcpy(frame, station.data(), wire::kMacSize);
  std::memcpy(frame + wire::kMacSize, station.data(), wire::kMacSize);
  const bool ipv6 = frame[wire::kEthernetSize] >> 4 == 6;
  wire::store_be16(frame + wire::kEtherTypeAt, ipv6 ? wire::kEtherTypeIpv6 : wire::kEtherTypeIpv4);
}

/// A frame with a copy of a datagram; null: no buffer that holds it.
rte_mbuf* copy_of(const uint8_t* ip, uint32_t size, rte_mempool* pool) {
  rte_mbuf* const m = rte_pktmbuf_alloc(pool);
  if (m == nullptr) return nullptr;
  char* const frame = rte_pktmbuf_append(m, static_cast<uint16_t>(wire::kEthernetSize + size));
  if (frame == nullptr) {
    give_back(m);
    return nullptr;
  }
  std::memcpy(frame + wire::kEthernetSize, ip, size);
  return m;
}

}  // namespace

Released release(rte_mbuf* m, uint32_t at, uint32_t size, uint8_t ecn, const wire::Mac& station,
                 rte_mempool* pool, PacketQueue& out, uint64_t flags) {
  Released done;
  while (size > 0) {
    uint8_t* const ip = rte_pktmbuf_mtod_offset(m, uint8_t*, at);
    const uint32_t length = datagram_size(ip, size);
    if (length == 0) {
      done.bad = true;
      break;
    }
    const bool last = length == size;
    if (!combine_ecn(ip, ecn)) {
      ++done.unmarkable;
    } else {
      // The last one, which is mostly the only one, keeps the buffer.
      rte_mbuf* const frame = last ? m : copy_of(ip, length, pool);
      if (frame == nullptr || out.full()) {
        ++done.no_buffer;
        if (frame != nullptr && !last) give_back(frame);
      } else {
        if (last) {
          rte_pktmbuf_adj(m, static_cast<uint16_t>(at - wire::kEthernetSize));
          rte_pktmbuf_trim(m, static_cast<uint16_t>(m->data_len - wire::kEthernetSize - length));
        }
        frame->ol_flags = flags;
        write_ethernet(rte_pktmbuf_mtod(frame, uint8_t*), station);
        out.put(frame);
        ++done.packets;
        done.bytes += length;
        if (last) return done;
      }
    }
    at += length;
    size -= length;
  }
  give_back(m);
  return done;
}

}  // namespace turnpike::gateway
