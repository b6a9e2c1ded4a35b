// SPDX-License-Identifier: BSD-3-Clause
// The result of a route lookup: an egress link, several, the router itself, or no destination.
#pragma once

#include <cstdint>

#include "common/wire/layers.h"

namespace turnpike::router {

struct alignas(32) NextHop {
  enum class Action : uint8_t {
    kForward,      // to the neighbour below
    kLocal,        // one of the router's own addresses
    kNoRoute,      // nothing matches
    kNoNeighbour,  // on a connected subnet, without a neighbour of that address
    kBroadcast,    // a connected subnet's broadcast or network address
    kTree,         // a tree's group: `link` is an index into Tables::trees()
    kPaths,        // one of several next hops, by the packet's flow: see Routes::choose()
    kUnresolved,   // the MAC of the gateway, or of the destination itself, is not known yet
    kBlackhole,    // a route says: drop silently
    kUnreachable,  // a route says: drop, and tell the source that it cannot be reached
    kProhibit,     // a route says: drop, and tell the source that this is prohibited
  };
  Action action = Action::kNoRoute;
  uint16_t link = 0;      // index among the router's links
  uint16_t mtu = 0;       // B of the largest IP datagram
  uint32_t overhead = 0;  // B per packet that the link carries beyond it
  uint32_t feasible = 0;  // see Tables::feasible()
  struct Macs {
    wire::Mac destination{}, source{};
  } macs{};  // first bytes of a frame
  // kPaths: number of the set of paths; kUnresolved: see RouteTable::gateway_of().
  uint32_t id = 0;
};
static_assert(sizeof(NextHop) == 32);

}  // namespace turnpike::router
