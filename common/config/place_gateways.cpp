// SPDX-License-Identifier: BSD-3-Clause
// Gateways: core links, peers, and the destinations behind each peer.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "common/config/address.h"
#include "common/config/describe.h"
#include "common/config/draft.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

class Gateways {
 public:
  explicit Gateways(Draft& draft) : d_(draft) {}

  void place(const Named<GatewaySpec>& named) {
    const auto& [name, at, spec] = named;
    path_ = "gateways." + name;
    const auto router = d_.routers.find(name);
    if (router == d_.routers.end()) {
      d_.mistakes.add(at, path_, "there is no router '" + name + "'" + suggestion(name, routers()));
      return;
    }
    Gateway& g = d_.topology.gateways.emplace_back();
    g.router = router->second;
    place_core(spec, g);
    place_classes(spec, g);
    g.strategy = spec.strategy.value;
    const Protocol* fallback = spec.protocol.given ? nullptr : find_protocol("fcp");
    g.law.protocol = spec.protocol.value.protocol;
    g.law.params = fallback != nullptr ? preset_values(*fallback, false, d_.topology.run.preset)
                                       : spec.protocol.value.params;
    if (spec.mtu.given) {
      g.mtu = spec.mtu.value;
    } else if (!g.core.empty()) {
      g.mtu = Bytes(d_.topology.links[g.core.front()].mtu);
    }
    check_mtu(spec, g);
    check_customers(spec, g);
    g.limit = spec.limit.value;
    if (g.limit < g.mtu && !spec.limit.wrong)
      d_.mistakes.add(spec.limit.given ? spec.limit.at : at, path_ + ".limit",
                      "less than a packet of " + std::to_string(g.mtu.count()) + " B (`mtu`)");
    g.target = spec.target.value;
    g.interval = spec.interval.value;
    g.idle = spec.idle.value;
    const auto word = std::ranges::find(kSilentPeers, spec.silent_peer.value);
    g.silent_peer = word == kSilentPeers.begin() ? SilentPeer::kForward : SilentPeer::kDrop;
    if (spec.security.given) {
      if (spec.silent_peer.given && g.silent_peer == SilentPeer::kForward)
        d_.mistakes.add(spec.silent_peer.at, path_ + ".silent_peer",
                        "would forward in the clear what 'security' protects");
      g.silent_peer = SilentPeer::kDrop;
    }
    g.outside = spec.outside.value != kOutside[0];
    for (const size_t l : router_of(g).links)
      if (std::ranges::count(g.core, l) == 0) check_sources(d_, router_of(g), l);
  }

  /// Peers: all gateways have their core links.
  void place_peers(const Named<GatewaySpec>& named) {
    const auto& [name, at, spec] = named;
    path_ = "gateways." + name;
    Gateway* const g = gateway_of(name);
    if (g == nullptr || spec.peers.wrong) return;
    if (spec.peers.given && spec.peers.value.empty())
      d_.mistakes.add(spec.peers.at, path_ + ".peers", "needs a peer at least");
    for (const auto& peer : spec.peers.value) place_peer(*g, peer);
    const Field<std::string>& key_file = spec.security.value.key_file;
    if (key_file.given && !key_file.wrong) place_keys(d_, *g, key_file);
    if (spec.security.given && !spec.security.wrong && !key_file.given)
      d_.mistakes.add(spec.security.at, path_ + ".security", "missing key 'key_file'");
  }

 private:
  [[nodiscard]] Router& router_of(const Gateway& g) const { return d_.topology.routers[g.router]; }

  [[nodiscard]] std::vector<std::string_view> routers() const {
    std::vector<std::string_view> names;
    for (const Router& r : d_.topology.routers) names.emplace_back(r.name);
    return names;
  }

  [[nodiscard]] Gateway* gateway_of(const std::string& name) const {
    for (Gateway& g : d_.topology.gateways)
      if (router_of(g).name == name) return &g;
    return nullptr;
  }

  void place_core(const GatewaySpec& spec, Gateway& g) {
    if (!spec.core.given || spec.core.wrong) return;
    const Router& router = router_of(g);
    std::vector<std::string_view> names;
    for (const size_t l : router.links) names.emplace_back(d_.topology.links[l].name);
    const auto& items = spec.core.value.items;
    for (const auto& item : items) {
      if (item.wrong) continue;
      const Position at = items.size() > 1 ? item.at : spec.core.at;
      const auto found = d_.links.find(item.value);
      if (found == d_.links.end() || std::ranges::count(router.links, found->second) == 0) {
        d_.mistakes.add(
            at, path_ + ".core",
            "'" + item.value + "' is no link of this router" + suggestion(item.value, names));
      } else if (std::ranges::count(g.core, found->second) != 0) {
        d_.mistakes.add(at, path_ + ".core", "'" + item.value + "' is there twice");
      } else {
        g.core.push_back(found->second);
      }
    }
  }

  void place_classes(const GatewaySpec& spec, Gateway& g) {
    std::optional<size_t> rest;  // the class without `dscp`
    std::array<std::optional<size_t>, 64> owners;
    const auto& all = spec.classes.value;
    for (size_t c = 0; c < all.size(); ++c) {
      const auto& [name, at, own] = all[c];
      const std::string path = path_ + ".classes." + name;
      GatewayClass& made = g.classes.emplace_back();
      made.name = name;
      made.share = own.share.value;
      made.background = own.background.value;
      if (name == kDefault && own.dscp.given)
        d_.mistakes.add(own.dscp.at, path + ".dscp",
                        "'" + name + "' is the class of all packets that no other class has");
      if (!own.dscp.given) {
        if (rest)
          d_.mistakes.add(at, path,
                          "'" + g.classes[*rest].name +
                              "' has no 'dscp' either: which packets are this class's?");
        rest = c;
      }
      const auto& items = own.dscp.value.items;
      for (size_t i = 0; i < items.size() && !own.dscp.wrong; ++i) {
        if (items[i].wrong) continue;
        const unsigned dscp = items[i].value;
        if (owners[dscp])
          d_.mistakes.add(items.size() > 1 ? items[i].at : own.dscp.at, path + ".dscp",
                          std::to_string(dscp) + " is already that of class '" +
                              g.classes[*owners[dscp]].name + "'");
        owners[dscp] = c;
        made.dscp.push_back(dscp);
      }
      if (own.core_dscp.given) {
        made.core_dscp = own.core_dscp.value;
      } else if (!made.dscp.empty()) {
        made.core_dscp = made.dscp.front();
      }
    }
    if (g.classes.size() > kMaxClasses)
      d_.mistakes.add(spec.classes.at, path_ + ".classes",
                      "more than " + std::to_string(kMaxClasses) + " classes");
    if (!rest) {
      rest = g.classes.size();
      g.classes.push_back({.name = std::string(kDefault)});
    }
    for (size_t dscp = 0; dscp < owners.size(); ++dscp)
      g.class_of[dscp] = static_cast<uint8_t>(owners[dscp].value_or(*rest));
  }

  // Packets from the core are no customer's.
  void check_customers(const GatewaySpec& spec, const Gateway& g) {
    for (const Customer& c : d_.topology.customers)
      for (const size_t l : c.links)
        if (std::ranges::count(g.core, l) != 0)
          d_.mistakes.add(spec.core.at, path_ + ".core",
                          "'" + d_.topology.links[l].name + "' is the link of customer '" + c.name +
                              "', whose packets come by other links than the core's");
  }

  // A tunnel's packet crosses the core whole, and has room for headers and a datagram.
  void check_mtu(const GatewaySpec& spec, const Gateway& g) {
    if (g.core.empty() || spec.mtu.wrong) return;
    const Link& link = d_.topology.links[g.core.front()];
    const std::string own =
        "link '" + link.name + "' has an MTU of " + std::to_string(link.mtu) + " B";
    if (g.mtu.count() > link.mtu)
      d_.mistakes.add(spec.mtu.at, path_ + ".mtu", "more than fits: " + own);
    if (g.mtu.count() < kMinMtu)
      d_.mistakes.add(spec.core.at, path_ + ".core",
                      own + "; tunnels need " + std::to_string(kMinMtu) + " B");
  }

  void place_peer(Gateway& g, const Named<GatewayPeerSpec>& named) {
    const auto& [name, at, spec] = named;
    const std::string path = path_ + ".peers." + name;
    GatewayPeer peer{.name = name, .address = Ipv4{0}};
    const Gateway* const other = gateway_of(name);
    if (name == router_of(g).name)
      return d_.mistakes.add(at, path, "a gateway is no peer of its own");
    if (other == nullptr && d_.routers.contains(name))
      return d_.mistakes.add(at, path, "router '" + name + "' is no gateway");
    if (other == nullptr && (!spec.address.given || !spec.prefix.given))
      return d_.mistakes.add(
          at, path, "'" + name + "' is no gateway of this file: it needs an address and a prefix");
    if (spec.address.given && spec.ip_version.given)
      d_.mistakes.add(spec.ip_version.at, path + ".ip_version",
                      "'address' says which version it is");
    if (spec.address.given) {
      peer.address = spec.address.value.address;
    } else if (other != nullptr && !other->core.empty()) {
      const Link& link = d_.topology.links[other->core.front()];
      const Interface& end = link.ends[link.end_at(name)];
      if (spec.ip_version.value.number == 6) {
        peer.address = end.ipv6.address;
      } else {
        peer.address = end.ipv4.address;
      }
    }
    if (spec.prefix.given) {
      for (const auto& item : spec.prefix.value.items) {
        if (item.wrong) continue;
        if (const auto* v4 = std::get_if<Ipv4Prefix>(&item.value.prefix)) {
          peer.ipv4.push_back(network(*v4));
        } else {
          peer.ipv6.push_back(network(std::get<Ipv6Prefix>(item.value.prefix)));
        }
      }
    } else if (other != nullptr) {
      add_subnets(*other, peer);
    }
    if (!spec.address.wrong) check_peer_routes(d_, g, peer, named);
    g.peers.push_back(std::move(peer));
  }

  // The subnets of all links that the gateway reaches without its core links.
  void add_subnets(const Gateway& g, GatewayPeer& peer) const {
    std::set<size_t> links;
    std::vector<size_t> next{g.router};
    std::set<size_t> seen{g.router};
    while (!next.empty()) {
      const Router& router = d_.topology.routers[next.back()];
      next.pop_back();
      for (const size_t l : router.links) {
        if (std::ranges::count(g.core, l) != 0 || !links.insert(l).second) continue;
        for (const Interface& end : d_.topology.links[l].ends)
          if (const auto r = d_.routers.find(end.node);
              r != d_.routers.end() && seen.insert(r->second).second)
            next.push_back(r->second);
      }
    }
    for (const size_t l : links) {
      const Link& link = d_.topology.links[l];
      peer.ipv4.push_back(network(link.ends[0].ipv4));
      if (link.mtu >= kMinIpv6Mtu) peer.ipv6.push_back(network(link.ends[0].ipv6));
    }
  }

  static constexpr size_t kMaxClasses = 8;
  static constexpr std::string_view kDefault = "default";
  static constexpr int64_t kMinMtu = 576;  // B, the least that `mtu` may be

  Draft& d_;
  std::string path_;
};

}  // namespace

void place_gateways(Draft& d) {
  if (!d.ends_known) return;
  Gateways gateways(d);
  for (const auto& named : d.file.gateways.value) gateways.place(named);
  for (const auto& named : d.file.gateways.value) gateways.place_peers(named);
}

}  // namespace turnpike::config
