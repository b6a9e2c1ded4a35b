// SPDX-License-Identifier: BSD-3-Clause
// The parse stage with its fast paths, compared with the checks of single packets.
#pragma once

#include <cstring>
#include <string>

#include <rte_mbuf.h>

#include "router/control/tables.h"
#include "router/datapath/burst.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/ingress/parse.h"

namespace turnpike::router::test {

/// The first difference between packet i of a parsed burst and its twin, parsed by itself; empty:
/// none.
inline std::string parse_difference(const Burst& burst, unsigned i, rte_mbuf& twin,
                                    const Tables& tables) {
  PacketInfo full{.input = burst.input};
  const DropReason why = parse_fully(twin, full, tables);
  const bool dropped = (burst.dropped >> i & 1) != 0;
  if (dropped != (why != DropReason::kNone)) return "dropped";
  if (dropped) return burst.reason[i] == why ? "" : "reason";
  if (((burst.local >> i & 1) != 0) != full.has(kArp)) return "local";
  const PacketInfo& p = burst.info[i];
  if (p.l3 != full.l3 || p.l4 != full.l4 || p.congestion != full.congestion) return "offsets";
  if (p.datagram != full.datagram) return "datagram";
  if (p.flags != full.flags) return "flags";
  if (p.l4_protocol != full.l4_protocol || p.protocol != full.protocol) return "protocol";
  if (p.input != full.input || p.customer != full.customer) return "input";
  const rte_mbuf& m = *burst.mbufs[i];
  if (m.pkt_len != twin.pkt_len || m.data_len != twin.data_len) return "length";
  if (std::memcmp(frame_of(burst.mbufs[i]), frame_of(&twin), m.data_len) != 0) return "bytes";
  const uint8_t* ip = frame_of(&twin) + full.l3;
  const bool with_ipv4 = (burst.with_ipv4 >> i & 1) != 0,
             with_ipv6 = (burst.with_ipv6 >> i & 1) != 0;
  if (full.has(kIpv6) ? with_ipv4 : with_ipv6) return "family";
  if (with_ipv4 && (ip[wire::kIpv4TtlAt] <= 1 ||
                    burst.destinations4[i] != wire::load_be32(ip + wire::kIpv4DestinationAt)))
    return "IPv4 destination";
  if (with_ipv6 && (ip[wire::kIpv6HopLimitAt] <= 1 ||
                    burst.destinations6[i] != load_ipv6(ip + wire::kIpv6DestinationAt)))
    return "IPv6 destination";
  return "";
}

}  // namespace turnpike::router::test
