// SPDX-License-Identifier: BSD-3-Clause
// The demo's topology for tests, built without a file.
#pragma once

#include <string>

#include "common/config/topology.h"

namespace turnpike::sender {

/// alice, bob and carol (1, 1 and 2 $/s) send to the server over a link of 100 Mbps for 15 s.
inline config::Topology demo_topology() {
  config::Topology t;
  t.run.name = "demo";
  t.run.duration = 15_s;
  t.routers.push_back(
      {.name = "gate", .lcores = {0}, .ipv4_routes = {}, .ipv6_routes = {}, .links = {0, 1, 2, 3}});
  const std::string names[] = {"alice", "bob", "carol", "server"};
  for (size_t i = 0; i < 4; ++i) {
    const bool server = i == 3;
    t.hosts.push_back({.name = names[i], .budget = Budget(server ? 0 : i == 2 ? 2 : 1)});
    t.hosts.back().link = i;
    t.hosts.back().end = server ? 1 : 0;
    config::Link& link = t.links.emplace_back();
    link.name = server ? "bottleneck" : names[i] + "-gate";
    const auto address = static_cast<config::Ipv4>(0x0a000001 + (i << 8));
    link.ends[t.hosts.back().end].node = names[i];
    link.ends[t.hosts.back().end].ipv4 = {address, 24};
    link.ends[1 - t.hosts.back().end].node = "gate";
    for (config::Direction& d : link.directions) {
      d.rate = server ? 100_Mbps : 10_Gbps;
      d.delay = server ? 8_ms : 2_ms;
    }
    if (server) link.directions[0].law.protocol = "fcp";
    t.routers[0].ipv4_routes.push_back({{address & 0xffffff00U, 24}, i});
  }
  const Nanos start[] = {0_s, 2_s, 4_s};
  for (size_t i = 0; i < 3; ++i)
    t.flows.push_back({.name = names[i], .from = i, .to = 3, .params = {}, .start = start[i]});
  t.flows[1].stop = 11_s;
  return t;
}

}  // namespace turnpike::sender
