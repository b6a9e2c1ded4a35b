// SPDX-License-Identifier: BSD-3-Clause
// Two hosts on one cable, for the targets that play one of them.
#pragma once

#include "common/config/topology.h"
#include "common/protocols/registry.h"

namespace turnpike::fuzz {

/// 100 Mbit/s between host 0 and host 1, over IPv4 and IPv6.
inline config::Topology two_hosts() {
  config::Topology t;
  t.hosts = {{.name = "a", .budget = Budget(1)}, {.name = "b", .end = 1}};
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
    link.directions[i].buffer = Bytes(250'000);
  }
  t.links.push_back(link);
  return t;
}

/// A protocol and one of its presets, by an input's byte.
struct Scheme {
  const Protocol* protocol;
  std::string_view preset;
  explicit Scheme(size_t byte) {
    const auto all = protocols();
    protocol = &all[byte % all.size()];
    const auto presets = preset_names();
    preset = presets[byte / all.size() % presets.size()];
  }
  [[nodiscard]] ParamValues link() const { return preset_values(*protocol, true, preset); }
  [[nodiscard]] ParamValues flow() const { return preset_values(*protocol, false, preset); }
};

}  // namespace turnpike::fuzz
