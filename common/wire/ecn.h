// SPDX-License-Identifier: BSD-3-Clause
// The ECN field of an IP header (RFC 3168).
#pragma once

#include <cstdint>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/layers.h"

namespace turnpike::wire {

inline constexpr uint8_t kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3;

/// The ECN field of an IPv4 or IPv6 header.
inline uint8_t ecn_of(const uint8_t* ip) { return ip[0] >> 4 == 6 ? ip[1] >> 4 & 3 : ip[1] & 3; }

/// Writes the ECN field of a valid IP header, and updates IPv4's checksum (RFC 1624).
inline void set_ecn(uint8_t* ip, uint8_t ecn) {
  if (ip[0] >> 4 == 6) {
    ip[1] = static_cast<uint8_t>((ip[1] & ~0x30) | ecn << 4);
    return;
  }
  const uint16_t before = load_be16(ip);
  ip[1] = static_cast<uint8_t>((ip[1] & ~3) | ecn);
  uint8_t* const at = ip + kIpv4ChecksumAt;
  store_be16(at, update_checksum(load_be16(at), before, load_be16(ip)));
}

}  // namespace turnpike::wire
