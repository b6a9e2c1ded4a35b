// SPDX-License-Identifier: BSD-3-Clause
// Explicit congestion notification in IP (RFC 3168): telling a flow instead of dropping its packet.
#pragma once

#include <cstdint>

#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "common/wire/layers.h"

namespace turnpike::router {

/// Sets "congestion experienced" in a sound IP header and mends IPv4's checksum (RFC 1624). False
/// where the sender did not say that it would understand (Not-ECT): nothing was changed then.
inline bool mark_congestion(uint8_t* ip, bool v6) {
  // The two bits end the second byte in IPv4; in IPv6 the flow label takes the byte's other half.
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
