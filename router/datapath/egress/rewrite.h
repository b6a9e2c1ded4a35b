// SPDX-License-Identifier: BSD-3-Clause
// Rewrites a packet's MAC addresses and TTL before transmission.
#pragma once

#include <cstring>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/burst.h"

namespace turnpike::router {

/// Decrements the TTL or hop limit of a packet with its IP header at `ip`.
inline void decrement_ttl(uint8_t* ip, bool ipv6) {
  if (ipv6) {
    --ip[wire::kIpv6HopLimitAt];
    return;
  }
  wire::decrement_ttl(ip + wire::kIpv4TtlAt);
}

/// Writes the next hop's MACs and decrements the TTL or hop limit. Runs last, because an ICMP error
/// quotes a packet as it arrived.
inline void rewrite(rte_mbuf* m, const PacketInfo& p) {
  uint8_t* frame = frame_of(m);
  std::memcpy(frame, &p.hop->macs, sizeof p.hop->macs);
  if (p.has(kOriginated)) return;
  decrement_ttl(frame + p.l3, p.has(kIpv6));
}

}  // namespace turnpike::router
