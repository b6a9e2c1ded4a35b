// SPDX-License-Identifier: BSD-3-Clause
// Gateways: peers, classes and tunnels.
#include <string>
#include <variant>
#include <vector>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/resolve/parts.h"
#include "common/config/scalars.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

void write_peer(YamlWriter& out, const GatewayPeer& peer) {
  const auto* v4 = std::get_if<Ipv4>(&peer.address);
  const std::string address =
      v4 != nullptr ? ipv4_text(*v4) : ipv6_text(std::get<Ipv6>(peer.address));
  std::vector<std::string> prefixes;
  for (const Ipv4Prefix& p : peer.ipv4) prefixes.push_back(in_quotes(prefix_text(p)));
  for (const Ipv6Prefix& p : peer.ipv6) prefixes.push_back(in_quotes(prefix_text(p)));
  out.put(plain(peer.name),
          mapped({{"address", in_quotes(address)}, {"prefix", listed(prefixes)}}));
}

void write_class(YamlWriter& out, const GatewayClass& c) {
  std::vector<YamlPair> keys;
  std::vector<std::string> dscp;
  for (const unsigned value : c.dscp) dscp.push_back(std::to_string(value));
  if (!dscp.empty()) keys.push_back({"dscp", listed(dscp)});
  keys.insert(keys.end(), {{"core_dscp", std::to_string(c.core_dscp)},
                           {"share", number(c.share)},
                           {"background", truth(c.background)}});
  out.put(plain(c.name), mapped(keys));
}

void write_gateway(YamlWriter& out, const Topology& t, const Gateway& g) {
  out.map(plain(t.routers[g.router].name), [&] {
    std::vector<std::string> core;
    for (const size_t l : g.core) core.push_back(plain(t.links[l].name));
    out.put("core", listed(core));
    out.map("peers", [&] {
      for (const GatewayPeer& p : g.peers) write_peer(out, p);
    });
    out.map("classes", [&] {
      for (const GatewayClass& c : g.classes) write_class(out, c);
    });
    out.put("strategy", g.strategy);
    if (g.security) out.put("security", mapped({{"key_file", in_quotes(g.security->key_file)}}));
    out.put("protocol", scheme_text(g.law.protocol, g.law.params, false));
    out.put("mtu", to_text(g.mtu));
    out.put("limit", to_text(g.limit));
    out.put("target", to_text(g.target));
    out.put("interval", to_text(g.interval));
    out.put("idle", to_text(g.idle));
    out.put("silent_peer", std::string(kSilentPeers[static_cast<size_t>(g.silent_peer)]));
    out.put("outside", std::string(kOutside[g.outside ? 1 : 0]));
  });
}

}  // namespace

void write_gateways(YamlWriter& out, const Topology& t) {
  if (t.gateways.empty()) return;
  out.map("gateways", [&] {
    for (const Gateway& g : t.gateways) write_gateway(out, t, g);
  });
}

}  // namespace turnpike::config
