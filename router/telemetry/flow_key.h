// SPDX-License-Identifier: BSD-3-Clause
// The flow of a packet, from the first bytes of its frame.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "router/control/route_sink.h"

namespace turnpike::router {

/// Ports are 0 for other protocols than TCP and UDP, and for later fragments.
struct FlowKey {
  Address source, destination;
  uint16_t source_port = 0, destination_port = 0;
  uint8_t protocol = 0;  // IP protocol number, of IPv6 the first next header

  bool operator==(const FlowKey&) const = default;
};

struct FlowKeyHash {
  size_t operator()(const FlowKey& key) const;
};

struct FlowOfPacket {
  FlowKey key;
  bool pays = false;  // a Turnpike request, whose header a law stamps
};

/// Of an Ethernet frame with at most one 802.1Q tag; std::nullopt: neither IPv4 nor IPv6, or cut
/// off. Never reads beyond `frame`. `udp_port`: Turnpike's.
std::optional<FlowOfPacket> flow_of(std::span<const uint8_t> frame, uint16_t udp_port);

}  // namespace turnpike::router
