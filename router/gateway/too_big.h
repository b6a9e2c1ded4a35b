// SPDX-License-Identifier: BSD-3-Clause
// Reads ICMP errors that say that a tunnel's packet was larger than a link's MTU.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "router/datapath/burst.h"

namespace turnpike::gateway {

/// The error, and what the Turnpike header says that it quotes.
struct TooBig {
  uint16_t mtu = 0;  // B of the link
  uint32_t flow = 0, token = 0, sequence = 0;
};

/// Reads an ICMP message: IPv4's `fragmentation needed` (RFC 1191) or IPv6's `packet too big` (RFC
/// 8201), which quotes a request of a Turnpike flow with all of its common header. Everything else
/// is none. The caller has checked the checksum, and compares flow and token with its own: who did
/// not see the packet does not know them (RFC 5927 section 4.1).
std::optional<TooBig> read_too_big(std::span<const uint8_t> icmp, bool ipv6);

/// Reads such an error from a packet to the router, with a right checksum.
std::optional<TooBig> too_big_of(const rte_mbuf& m, const router::PacketInfo& p);

}  // namespace turnpike::gateway
