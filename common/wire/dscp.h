// SPDX-License-Identifier: BSD-3-Clause
// The DSCP of an IP header (RFC 2474).
#pragma once

#include <cstdint>

#include "common/wire/bytes.h"

namespace turnpike::wire {

/// The DSCP of an IPv4 or IPv6 header.
inline uint8_t dscp_of(const uint8_t* ip) {
  return ip[0] >> 4 == 6 ? load_be16(ip) >> 6 & 63 : ip[1] >> 2;
}

}  // namespace turnpike::wire
