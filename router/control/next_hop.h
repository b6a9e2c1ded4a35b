// SPDX-License-Identifier: BSD-3-Clause
// The result of a route lookup: an egress link, the router itself, or no destination.
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
  };
  Action action = Action::kNoRoute;
  uint16_t link = 0;      // index among the router's links
  uint16_t mtu = 0;       // B of the largest IP datagram
  uint32_t overhead = 0;  // B per packet that the link carries beyond it
  uint32_t feasible = 0;  // see Tables::feasible()
  struct Macs {
    wire::Mac destination{}, source{};
  } macs{};  // first bytes of a frame
};

}  // namespace turnpike::router
