// SPDX-License-Identifier: BSD-3-Clause
// The number by which a packet's flow chooses one of several paths.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>

#include <rte_jhash.h>
#include <rte_mbuf.h>

#include "common/wire/bytes.h"
#include "router/datapath/burst.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {

/// Protocols whose header begins with source and destination port: TCP, UDP, DCCP, SCTP, UDP-Lite.
inline bool has_ports(uint8_t protocol) {
  return protocol == kTcp || protocol == wire::kProtocolUdp || protocol == 33 || protocol == 132 ||
         protocol == 136;
}

/// Hashes the five-tuple of a packet that parse() took. All fragments of a datagram have the same
/// value: of the addresses and, for IPv4, the protocol, for IPv6 the flow label (RFC 6438 3). Ports
/// beyond the first segment count as 0. Routers in series need different seeds, or the flows of a
/// path of the first all choose the same path at the next.
inline uint32_t flow_hash(const rte_mbuf& m, const PacketInfo& p, uint32_t seed) {
  const uint8_t* frame = rte_pktmbuf_mtod(&m, const uint8_t*);
  const uint8_t* ip = frame + p.l3;
  uint32_t protocol = p.l4_protocol, ports = 0;
  if (p.has(kFragment)) {
    constexpr uint32_t kFlowLabel = 0xfffff;
    protocol = p.has(kIpv6) ? wire::load_be32(ip) & kFlowLabel : ip[wire::kIpv4ProtocolAt];
  } else if (p.l4 != 0 && has_ports(p.l4_protocol) && m.data_len >= p.l4 + sizeof ports) {
    std::memcpy(&ports, frame + p.l4, sizeof ports);
  }
  if (!p.has(kIpv6)) {
    return rte_jhash_3words(wire::load_be32(ip + wire::kIpv4SourceAt),
                            wire::load_be32(ip + wire::kIpv4DestinationAt), ports, protocol ^ seed);
  }
  static_assert(wire::kIpv6DestinationAt == wire::kIpv6SourceAt + sizeof(config::Ipv6));
  uint32_t words[2 * sizeof(config::Ipv6) / sizeof(uint32_t) + 1];
  std::memcpy(words, ip + wire::kIpv6SourceAt, 2 * sizeof(config::Ipv6));
  words[2 * sizeof(config::Ipv6) / sizeof(uint32_t)] = ports;
  return rte_jhash_32b(words, std::size(words), protocol ^ seed);
}

}  // namespace turnpike::router
