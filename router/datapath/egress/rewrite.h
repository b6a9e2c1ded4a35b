// SPDX-License-Identifier: BSD-3-Clause
// Rewrites a packet's MAC addresses and TTL before transmission.
#pragma once

#include <cstring>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/burst.h"

namespace turnpike::router {

/// Writes the next hop's MACs and decrements the TTL or hop limit. Runs last, because an ICMP error
/// quotes a packet as it arrived.
inline void rewrite(rte_mbuf* m, const PacketInfo& p) {
  uint8_t* frame = frame_of(m);
  std::memcpy(frame, &p.hop->macs, sizeof p.hop->macs);
  if (p.has(kOriginated)) return;
  uint8_t* ip = frame + p.l3;
  if (p.has(kIpv6)) {
    --ip[wire::kIpv6HopLimitAt];
    return;
  }
  --ip[wire::kIpv4TtlAt];
  wire::ttl_taken(ip + wire::kIpv4ChecksumAt);
}

}  // namespace turnpike::router
