// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/resolve_route.h"

#include <algorithm>
#include <tuple>

#include <linux/rtnetlink.h>

#include "common/config/address.h"
#include "router/linux/route_value.h"

namespace turnpike::router {
namespace {

constexpr config::Ipv4Prefix kLoopback4{0x7f000000, 8};
constexpr config::Ipv6 kLoopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

bool is_loopback(const Prefix& prefix) {
  if (const auto* v4 = std::get_if<config::Ipv4Prefix>(&prefix)) {
    return config::covers(kLoopback4, *v4);
  }
  const auto& v6 = std::get<config::Ipv6Prefix>(prefix);
  return v6.length == 128 && v6.address == kLoopback6;
}

bool over_link(const Hops& hops, const Interfaces& interfaces) {
  return std::any_of(hops.begin(), hops.end(), [&](const Hop& hop) {
    const Interfaces::Interface* interface = interfaces.find(hop.interface);
    return interface != nullptr && interface->link;
  });
}

/// Paths over the hops that can be used, or the reason why there is none.
RouteStatus resolve_hops(const Hops& hops, const Interfaces& interfaces, Route& out) {
  RouteStatus reason = RouteStatus::kForeignInterface;
  for (const Hop& hop : hops) {
    const Interfaces::Interface* interface = interfaces.find(hop.interface);
    if (interface == nullptr || !interface->link) {
      const bool loopback = interface != nullptr && interface->loopback && hops.size() == 1;
      if (loopback) reason = RouteStatus::kLoopback;
    } else if (!interfaces.usable(hop.interface) || hop.dead) {
      reason = RouteStatus::kLinkDown;
    } else if (hop.encapsulated) {
      reason = RouteStatus::kEncapsulated;
    } else {
      out.paths.push_back(
          Path{.link = *interface->link, .gateway = hop.gateway, .weight = hop.weight});
    }
  }
  if (out.paths.size() == 1) out.paths[0].weight = 1;  // of itself
  // The kernel's order changes as next hops come and go, and has no meaning.
  std::sort(out.paths.begin(), out.paths.end(), [](const Path& a, const Path& b) {
    return std::tie(a.link, a.gateway, a.weight) < std::tie(b.link, b.gateway, b.weight);
  });
  return out.paths.empty() ? reason : RouteStatus::kInstalled;
}

RouteStatus resolve_unicast(const KernelRoute& route, const Interfaces& interfaces,
                            const Nexthops& nexthops, Route& out) {
  if (route.nexthop == 0) return resolve_hops(*route.hops, interfaces, out);
  Hops hops;
  bool blackhole = false;
  if (!nexthops.resolve(route.nexthop, hops, blackhole)) return RouteStatus::kNoNexthop;
  if (!blackhole) return resolve_hops(hops, interfaces, out);
  out.action = Route::Action::kBlackhole;
  return RouteStatus::kInstalled;
}

}  // namespace

Distances default_distances() {
  constexpr uint8_t kNhrp = 191, kZebraStatic = 196, kRipng = 190;  // numbers of FRR's own
  Distances d;
  d.fill(150);
  d[RTPROT_KERNEL] = 0;
  d[RTPROT_BOOT] = d[RTPROT_STATIC] = d[kZebraStatic] = 1;
  d[kNhrp] = 10;
  d[RTPROT_BGP] = 20;
  d[RTPROT_EIGRP] = 90;
  d[RTPROT_BABEL] = 100;
  d[RTPROT_OSPF] = 110;
  d[RTPROT_ISIS] = 115;
  d[RTPROT_RIP] = d[kRipng] = 120;
  return d;
}

RouteStatus resolve_route(const Prefix& prefix, const KernelRoute& route,
                          const Interfaces& interfaces, const Nexthops& nexthops,
                          const Distances& distances, Route& out) {
  out.action = Route::Action::kForward;
  out.distance = route.local_table ? uint8_t{0} : distances[route.protocol];
  out.metric = route.local_table ? 0 : route.metric;
  out.paths.clear();  // keeps its memory for the next call
  switch (route.type) {
    case RTN_LOCAL:
    case RTN_ANYCAST:  // such as a subnet's router anycast address (RFC 4291 section 2.6.1)
      out.action = Route::Action::kLocal;
      if (is_loopback(prefix)) return RouteStatus::kLoopback;
      // The machine owns its addresses on whatever interface, but link-local ones only there.
      return is_link_local(prefix) && !over_link(*route.hops, interfaces)
                 ? RouteStatus::kForeignInterface
                 : RouteStatus::kInstalled;
    case RTN_BROADCAST:
      out.action = Route::Action::kBroadcast;
      if (is_loopback(prefix)) return RouteStatus::kLoopback;
      return over_link(*route.hops, interfaces) ? RouteStatus::kInstalled
                                                : RouteStatus::kForeignInterface;
    case RTN_BLACKHOLE:
      out.action = Route::Action::kBlackhole;
      return RouteStatus::kInstalled;
    case RTN_UNREACHABLE:
      out.action = Route::Action::kUnreachable;
      return RouteStatus::kInstalled;
    case RTN_PROHIBIT:
      out.action = Route::Action::kProhibit;
      return RouteStatus::kInstalled;
    case RTN_UNICAST:
      return resolve_unicast(route, interfaces, nexthops, out);
    default:
      return RouteStatus::kOtherType;
  }
}

}  // namespace turnpike::router
