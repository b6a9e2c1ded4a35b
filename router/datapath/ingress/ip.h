// SPDX-License-Identifier: BSD-3-Clause
// IP constants and address tests shared by the stages.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/config/topology.h"
#include "common/wire/layers.h"

namespace turnpike::router {

inline constexpr uint8_t kIcmp = 1;
inline constexpr uint8_t kTcp = 6;
inline constexpr uint8_t kIcmp6 = 58;
inline constexpr uint8_t kHopByHop = 0, kRouting = 43, kIpv6Fragment = 44, kAuthentication = 51,
                         kDestinationOptions = 60;
inline constexpr uint16_t kEtherTypeArp = 0x0806;
inline constexpr uint16_t kFragmentOffsetMask = 0x1fff;
inline constexpr uint8_t kDefaultTtl = 64;

inline config::Ipv6 load_ipv6(const uint8_t* p) {
  config::Ipv6 a;
  std::memcpy(a.data(), p, a.size());
  return a;
}

/// The source address of the datagram at `ip`; IPv4's as ::ffff:a.b.c.d (RFC 4291 2.5.5.2).
inline config::Ipv6 source_of(const uint8_t* ip, bool is_ipv6) {
  if (is_ipv6) return load_ipv6(ip + wire::kIpv6SourceAt);
  config::Ipv6 a{};
  a[10] = a[11] = 0xff;
  std::memcpy(&a[12], ip + wire::kIpv4SourceAt, 4);
  return a;
}

/// The same for its destination address.
inline config::Ipv6 destination_of(const uint8_t* ip, bool is_ipv6) {
  if (is_ipv6) return load_ipv6(ip + wire::kIpv6DestinationAt);
  config::Ipv6 a{};
  a[10] = a[11] = 0xff;
  std::memcpy(&a[12], ip + wire::kIpv4DestinationAt, 4);
  return a;
}

/// Extension headers that may precede IPv6's payload (RFC 8200 4.1), as bits.
inline constexpr uint64_t kExtensions =
    uint64_t{1} << kHopByHop | uint64_t{1} << kRouting | uint64_t{1} << kIpv6Fragment |
    uint64_t{1} << kAuthentication | uint64_t{1} << kDestinationOptions;
inline bool is_extension(uint8_t next) { return next < 64 && (kExtensions >> next & 1) != 0; }

inline bool is_multicast(const uint8_t* ipv6) { return ipv6[0] == 0xff; }
inline bool is_link_local(const uint8_t* ipv6) {
  return ipv6[0] == 0xfe && (ipv6[1] & 0xc0) == 0x80;
}
inline bool is_unspecified(const uint8_t* ipv6) { return load_ipv6(ipv6) == config::Ipv6{}; }
inline bool is_loopback(const uint8_t* ipv6) {
  return load_ipv6(ipv6) == config::Ipv6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

}  // namespace turnpike::router
