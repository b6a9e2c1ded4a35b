// SPDX-License-Identifier: BSD-3-Clause
// The kernel's routes to one prefix, in the order in which the kernel prefers them, and how its
// messages change them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "router/linux/messages.h"

namespace turnpike::router {

/// Why a route that is held is not the one in use.
enum class RouteStatus : uint8_t {
  kInstalled,
  kWorse,             // another route to the prefix comes first in the kernel's order
  kForeignInterface,  // leads over interfaces that are no links of the router
  kLinkDown,          // all its next hops are over links that are down or without carrier
  kEncapsulated,      // needs a tunnel's header
  kNoNexthop,         // its nexthop object is unknown
  kOtherType,         // throw, nat and unknown ones
  kLoopback,          // 127.0.0.0/8, ::1, or over the interface lo alone
  kCount,
};

using Hops = std::vector<Hop>;

struct KernelRoute {
  bool local_table = false;                  // which the kernel looks up before table main
  uint8_t type = 0;                          // RTN_*
  uint8_t protocol = 0;                      // RTPROT_*
  RouteStatus status = RouteStatus::kCount;  // kCount: not decided yet
  uint32_t metric = 0;
  uint32_t nexthop = 0;              // nexthop object, 0: `hops`
  config::Ipv4 source = 0;           // preferred source address
  uint32_t generation = 0;           // of the dump that saw it last
  std::shared_ptr<const Hops> hops;  // never null
};

using RouteList = std::vector<KernelRoute>;
using JoinHops = std::function<std::shared_ptr<const Hops>(const Hops&)>;

/// How a notification places its route among those of the same table and metric.
enum class Placement : uint8_t { kFirst, kLast, kReplace };

/// IPv4 (fib_table_insert): a message is one route; a replacement takes the place of the first.
void insert_ipv4(RouteList& list, KernelRoute route, Placement placement);

/// IPv6 (fib6_add_rt2node): routes through gateways join to one multipath route, which messages
/// carry as a whole; of an appended next hop alone (kLast) older kernels send just that one.
/// `join` makes the shared list of next hops. Returns false if the message may mean one of two
/// things, so that only a dump can tell.
bool insert_ipv6(RouteList& list, KernelRoute route, Placement placement, const JoinHops& join);

/// A route of a dump, which lists the routes of a prefix in their order.
void insert_dumped(RouteList& list, KernelRoute route);

/// Removes the route of a RTM_DELROUTE. Returns false if it is not there.
bool remove_ipv4(RouteList& list, const KernelRoute& route);
/// The same; removes single next hops from a multipath route.
bool remove_ipv6(RouteList& list, const KernelRoute& route, const JoinHops& join);

/// Whether the list has routes of the table and the metric of `route`.
bool has_group(const RouteList& list, const KernelRoute& route);

}  // namespace turnpike::router
