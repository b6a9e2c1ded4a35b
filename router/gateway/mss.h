// SPDX-License-Identifier: BSD-3-Clause
// Lowers the MSS that a TCP SYN announces, so that its flow's segments fit a tunnel (RFC 6691).
#pragma once

#include <cstdint>

namespace turnpike::gateway {

/// Clamps the MSS option of a SYN in an IP datagram to what fits `mtu` B, and updates TCP's
/// checksum. Leaves other datagrams alone: later fragments, no TCP, no SYN, no such option, one
/// that is cut short. `length`: B of the datagram that are in one piece at `ip`.
void clamp_mss(uint8_t* ip, uint32_t length, uint16_t mtu);

}  // namespace turnpike::gateway
