// SPDX-License-Identifier: BSD-3-Clause
// For tests: two hosts on one link, built by hand.
#pragma once

#include "common/config/topology.h"

namespace turnpike::sender::testing {

/// Host 0 sends, host 1 receives, 100 Mbit/s between them.
inline config::Topology two_hosts(Budget budget = Budget(1)) {
  config::Topology t;
  t.hosts = {{.name = "a", .budget = budget}, {.name = "b", .end = 1}};
  config::Link link;
  link.name = "cable";
  for (uint8_t i = 0; i < 2; ++i) {
    config::Interface& e = link.ends[i];
    e.node = t.hosts[i].name;
    e.ipv4 = {0x0a000001U + i, 24};
    e.ipv6.address = {0xfd};
    e.ipv6.address[15] = static_cast<uint8_t>(1 + i);
    e.ipv6.length = 64;
    e.mac = {2, 0, 0, 0, 0, static_cast<uint8_t>(1 + i)};
    link.directions[i].rate = 100_Mbps;
    link.directions[i].delay = 10_ms;
  }
  t.links.push_back(link);
  return t;
}

}  // namespace turnpike::sender::testing
