// SPDX-License-Identifier: BSD-3-Clause
// Explicit congestion notification in IP (RFC 3168): a mark instead of a drop.
#pragma once

#include <cstdint>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/layers.h"

namespace turnpike::router {

/// Sets CE in a valid IP header and updates IPv4's checksum (RFC 1624). False, without changes, if
/// the sender is not ECN-capable (Not-ECT).
inline bool mark_congestion(uint8_t* ip, bool v6) {
  // ECN is the low two bits of IPv4's second byte; in IPv6 the flow label takes that byte's low
  // half.
  const uint8_t mask = v6 ? 0x30 : 0x03;
  if ((ip[1] & mask) == 0) return false;
  const uint16_t before = wire::load_be16(ip);
  ip[1] |= mask;
  if (v6) return true;
  uint8_t* at = ip + wire::kIpv4ChecksumAt;
  wire::store_be16(at, wire::update_checksum(wire::load_be16(at), before, wire::load_be16(ip)));
  return true;
}

}  // namespace turnpike::router
