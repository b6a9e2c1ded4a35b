// SPDX-License-Identifier: BSD-3-Clause
// Where a looked-up destination leads: out of a link, to the router itself, or nowhere.
#pragma once

#include <cstdint>

#include "common/wire/layers.h"

namespace turnpike::router {

struct alignas(32) NextHop {
  enum class Action : uint8_t {
    kForward,      // to the neighbour below
    kLocal,        // one of the router's own addresses
    kNoRoute,      // nothing matches
    kNoNeighbour,  // a connected subnet, but nobody there has the address
    kBroadcast,    // a connected subnet's broadcast or network address
  };
  Action action = Action::kNoRoute;
  uint16_t link = 0;      // index among the router's links
  uint16_t mtu = 0;       // B of the largest IP datagram
  uint32_t overhead = 0;  // B that the link carries beyond it
  struct Macs {
    wire::Mac destination{}, source{};
  } macs{};  // as a frame begins
};

}  // namespace turnpike::router
