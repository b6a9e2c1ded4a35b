// SPDX-License-Identifier: BSD-3-Clause
// The multicast groups that Linux has joined on a router's interfaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::router {

/// Immutable while workers read it. Groups are sorted.
struct JoinedGroups {
  struct OnLink {
    std::vector<config::Ipv4> ipv4;
    std::vector<config::Ipv6> ipv6;

    bool operator==(const OnLink&) const = default;
    [[nodiscard]] bool has(config::Ipv4 group) const {
      return std::ranges::binary_search(ipv4, group);
    }
    [[nodiscard]] bool has(const config::Ipv6& group) const {
      return std::ranges::binary_search(ipv6, group);
    }
  };
  std::vector<OnLink> links;  // by link of the router
  uint64_t version = 0;       // set by PuntPath, counts up
};

}  // namespace turnpike::router
