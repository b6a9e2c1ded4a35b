// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/lookup/lookup.h"

#include <bit>
#include <utility>

#include <rte_common.h>

#include "common/wire/bytes.h"
#include "router/datapath/ingress/ip.h"
#include "router/datapath/lookup/address_batch.h"
#include "router/datapath/lookup/flow_hash.h"

namespace turnpike::router {

namespace {

using Action = NextHop::Action;

uint8_t ttl_of(const uint8_t* ip, const PacketInfo& p) {
  return ip[p.has(kIpv6) ? wire::kIpv6HopLimitAt : wire::kIpv4TtlAt];
}

// Handles a packet that is not simply forwarded.
void divert(Burst& burst, unsigned i, const uint8_t* ip, const Routes& routes) {
  PacketInfo& p = burst.info[i];
  if (p.hop->action == Action::kPaths)
    set_hop(p, routes.choose(*p.hop, flow_hash(*burst.mbufs[i], p, routes.seed())));
  const NextHop& hop = *p.hop;
  switch (hop.action) {
    case Action::kForward:
    case Action::kNoNeighbour:
    case Action::kUnresolved:
    case Action::kPaths:  // not of a path
      break;
    case Action::kLocal:
      return burst.move_to(burst.local, i);
    case Action::kNoRoute:
      return burst.drop(i, DropReason::kNoRoute);
    case Action::kBroadcast:
      return burst.drop(i, DropReason::kBroadcast);
    case Action::kTree:
      return burst.move_to(burst.multicast, i);
    case Action::kBlackhole:
      return burst.drop(i, DropReason::kBlackhole);
    case Action::kUnreachable:
      return burst.drop(i, DropReason::kUnreachable);
    case Action::kProhibit:
      return burst.drop(i, DropReason::kProhibited);
  }
  if (p.has(kIpv6) && is_link_local(ip + wire::kIpv6SourceAt))
    return burst.drop(i, DropReason::kLinkLocal);
  if (ttl_of(ip, p) <= 1) return burst.drop(i, DropReason::kTtlExpired);
  if (hop.action == Action::kNoNeighbour) return burst.drop(i, DropReason::kNoNeighbour);
  if (hop.action == Action::kUnresolved) return burst.move_to(burst.unresolved, i);
  if (p.datagram > hop.mtu) {
    if (p.has(kMayFragment)) return burst.move_to(burst.oversized, i);
    burst.drop(i, DropReason::kTooBig);
  }
}

__rte_always_inline void settle(Burst& burst, unsigned i, const NextHop& hop,
                                const Routes& routes) {
  PacketInfo& p = burst.info[i];
  set_hop(p, hop);
  const uint8_t* ip = frame_of(burst.mbufs[i]) + p.l3;
  if (hop.action != Action::kForward || p.datagram > hop.mtu || ttl_of(ip, p) <= 1 ||
      (p.has(kIpv6) && is_link_local(ip + wire::kIpv6SourceAt))) [[unlikely]]
    divert(burst, i, ip, routes);
}

// Handles destinations of link scope, which are not looked up.
void settle_on_link(Burst& burst, unsigned i, const uint8_t* destination,
                    const WorkerContext& context) {
  PacketInfo& p = burst.info[i];
  if (is_multicast(destination)) {
    const size_t tree = context.tables->find_tree(load_ipv6(destination));
    if (tree < context.tables->trees().size()) {
      p.flags |= kGroup;
      p.link = static_cast<uint16_t>(tree);
      return burst.move_to(burst.multicast, i);
    }
    // Neighbour solicitations are multicast.
    if (p.l4_protocol == kIcmp6) return burst.move_to(burst.local, i);
    return burst.drop(i, DropReason::kMulticast);
  }
  if (load_ipv6(destination) == context.tables->stations()[p.input].link_local)
    return burst.move_to(burst.local, i);
  burst.drop(i, DropReason::kLinkLocal);
}

// Packets whose destinations parse() has collected: `addresses` are those of the burst's first
// packets, of which `set` are looked up.
template <class Address>
void look_up_collected(Burst& burst, uint32_t set, std::span<const Address> addresses,
                       const Routes& routes) {
  routes.each_hop(addresses, [&](size_t i, const NextHop& hop) {
    if ((set >> i & 1) == 0) [[unlikely]]
      return;
    PacketInfo& p = burst.info[i];
    set_hop(p, hop);
    if (hop.action != Action::kForward || p.datagram > hop.mtu) [[unlikely]]
      divert(burst, static_cast<unsigned>(i), frame_of(burst.mbufs[i]) + p.l3, routes);
  });
}

void look_up_others(Burst& burst, uint32_t set, const WorkerContext& context) {
  const AddressBatch batch(
      burst, set, [](const uint8_t* ip) { return ip + wire::kIpv4DestinationAt; },
      [&](unsigned i, const uint8_t* ip) -> const uint8_t* {
        const uint8_t* destination = ip + wire::kIpv6DestinationAt;
        if (!is_multicast(destination) && !is_link_local(destination)) return destination;
        settle_on_link(burst, i, destination, context);
        return nullptr;
      });
  const Routes& routes = *context.routes;
  batch.find<const NextHop*>(
      routes, [&](unsigned i, const NextHop* hop) { settle(burst, i, *hop, routes); });
}

}  // namespace

void lookup(Burst& burst, const WorkerContext& context) {
  const Routes& routes = *context.routes;
  const uint32_t ipv4 = burst.with_ipv4 & burst.forward;
  uint32_t ipv6 = burst.with_ipv6 & burst.forward;
  // A look-up of IPv6 takes long: none is made for a packet of IPv4 between others.
  if ((ipv6 & (ipv6 + 1)) != 0) ipv6 = 0;
  const uint32_t others = burst.forward & ~(ipv4 | ipv6);
  const auto first = [](const auto& addresses, uint32_t set) {
    return std::span(addresses).first(static_cast<size_t>(std::bit_width(set)));
  };
  if (ipv4 != 0)
    look_up_collected(burst, ipv4, first(std::as_const(burst.destinations4), ipv4), routes);
  if (ipv6 != 0)
    look_up_collected(burst, ipv6, first(std::as_const(burst.destinations6), ipv6), routes);
  if (others != 0) look_up_others(burst, others, context);
}

}  // namespace turnpike::router
