// SPDX-License-Identifier: BSD-3-Clause
// Last touch on a packet before it leaves: MAC addresses and TTL.
#pragma once

#include <cstring>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/burst.h"

namespace turnpike::router {

/// Writes the next hop's MACs and takes one from the TTL or hop limit. Only now, for an ICMP error
/// quotes a packet as it came. RFC 1624 mends the IPv4 checksum over the TTL and its neighbour.
inline void rewrite(rte_mbuf* m, const PacketInfo& p) {
  uint8_t* frame = frame_of(m);
  std::memcpy(frame, p.hop->destination.data(), 6);
  std::memcpy(frame + 6, p.hop->source.data(), 6);
  if (p.has(kOriginated)) return;
  uint8_t* ip = frame + p.l3;
  if (p.has(kIpv6)) {
    --ip[wire::kIpv6HopLimitAt];
    return;
  }
  const uint16_t before = wire::load_be16(ip + wire::kIpv4TtlAt);
  --ip[wire::kIpv4TtlAt];
  const uint16_t sum = wire::load_be16(ip + wire::kIpv4ChecksumAt);
  wire::store_be16(ip + wire::kIpv4ChecksumAt,
                   wire::update_checksum(sum, before, wire::load_be16(ip + wire::kIpv4TtlAt)));
}

}  // namespace turnpike::router
