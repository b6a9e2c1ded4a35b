// SPDX-License-Identifier: BSD-3-Clause
// ECN at the end of a tunnel (RFC 6040 section 4.2).
#pragma once

#include "common/wire/ecn.h"

namespace turnpike::gateway {

/// Gives a decapsulated datagram what the core said of its tunnel packet, whose ECN field is
/// `outer` (RFC 6040, figure 4). False: the datagram must be dropped, because its flow would not
/// understand a mark.
inline bool combine_ecn(uint8_t* ip, uint8_t outer) {
  const uint8_t inner = wire::ecn_of(ip);
  if (outer == wire::kCe) {
    if (inner == wire::kNotEct) return false;
    if (inner != wire::kCe) wire::set_ecn(ip, wire::kCe);
  } else if (outer == wire::kEct1 && inner == wire::kEct0) {
    wire::set_ecn(ip, wire::kEct1);
  }
  return true;
}

}  // namespace turnpike::gateway
