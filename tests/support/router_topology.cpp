// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/router_topology.h"

#include "common/config/address.h"
#include "common/protocols/registry.h"

namespace turnpike::router::test {

MemoryPort::~MemoryPort() {
  for (rte_mbuf* m : in) rte_pktmbuf_free(m);
  for (rte_mbuf* m : out) rte_pktmbuf_free(m);
}

uint16_t MemoryPort::rx(Nanos, std::span<rte_mbuf*> burst) {
  uint16_t n = 0;
  for (; n < burst.size() && !in.empty(); ++n) {
    burst[n] = in.front();
    in.pop_front();
  }
  return n;
}

uint16_t MemoryPort::tx(Nanos now, std::span<rte_mbuf*> burst) {
  uint16_t n = 0;
  for (; n < burst.size() && room > 0; ++n) {
    if (room != SIZE_MAX) --room;
    out.push_back(burst[n]);
    when.push_back(now);
  }
  return n;
}

config::Topology topology() {
  config::Topology t;
  t.links.resize(kLinks);
  constexpr const char* names[] = {"left", "right", "narrow"};
  constexpr uint16_t mtus[] = {9000, 1500, 1280};
  for (size_t l = 0; l < kLinks; ++l) {
    config::Link& link = t.links[l];
    const std::string n = std::to_string(l + 1);
    link.name = names[l];
    link.mtu = mtus[l];
    link.ends[0] = {.node = "gate",
                    .ipv4 = *config::parse_ipv4_prefix("10.0." + n + ".1/24"),
                    .ipv6 = *config::parse_ipv6_prefix("fd00:" + n + "::1/64"),
                    .mac = router_mac(l),
                    .attachment = {}};
    link.ends[1] = {.node = "host" + n,
                    .ipv4 = *config::parse_ipv4_prefix("10.0." + n + ".2/24"),
                    .ipv6 = *config::parse_ipv6_prefix("fd00:" + n + "::2/64"),
                    .mac = host_mac(l),
                    .attachment = {}};
    for (config::Direction& d : link.directions) {
      d.rate = 10_Gbps;
      d.buffer = Bytes(10'000'000);
      d.drain = config::Drain::kLineRate;
    }
  }
  config::Direction& right = t.links[kRight].directions[0];
  right.rate = 100_Mbps;
  right.buffer = Bytes(100'000);
  right.drain = config::Drain::kShaped;
  right.law = {"fcp", ParamValues(find_protocol("fcp")->link_params)};

  config::Router gate;
  gate.name = "gate";
  gate.links = {kLeft, kRight, kNarrow};
  gate.ipv4_routes = {{*config::parse_ipv4_prefix("172.16.0.0/12"), kRight},
                      {*config::parse_ipv4_prefix("172.16.5.0/24"), kNarrow}};
  gate.ipv6_routes = {{*config::parse_ipv6_prefix("fd01::/16"), kRight}};
  t.routers.push_back(gate);
  return t;
}

wire::Mac router_mac(size_t link) { return {2, 0, 0, 0, 1, static_cast<uint8_t>(link + 1)}; }
wire::Mac host_mac(size_t link) { return {2, 0, 0, 0, 2, static_cast<uint8_t>(link + 1)}; }

config::Gateway& add_gateway(config::Topology& t) {
  config::Gateway& g = t.gateways.emplace_back();
  g.core = {kRight};
  g.peers.push_back({.name = "peer", .address = 0x0a000202U, .ipv4 = {{0xac100000, 12}}});
  g.law = {"fcp", preset_values(*find_protocol("fcp"), /*link=*/false, "turnpike")};
  g.classes = {{.name = "default"}};
  g.mtu = Bytes(1500);
  g.limit = Bytes(10'000'000);
  g.target = 20_ms;
  g.interval = 100_ms;
  g.idle = 1_s;
  return g;
}

}  // namespace turnpike::router::test
