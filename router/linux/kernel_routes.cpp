// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/kernel_routes.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <linux/rtnetlink.h>

#include "common/config/address.h"

namespace turnpike::router {
namespace {

RejectedRoute rejection(const RouteMessage& m) {
  if (m.cached) return RejectedRoute::kCached;
  if (m.table != RT_TABLE_MAIN && m.table != RT_TABLE_LOCAL) return RejectedRoute::kOtherTable;
  if (m.tos != 0) return RejectedRoute::kTypeOfService;
  if (m.by_source) return RejectedRoute::kBySource;
  if (is_multicast(m.prefix)) return RejectedRoute::kMulticast;
  const bool own = m.type == RTN_LOCAL || m.type == RTN_ANYCAST;
  return is_link_local(m.prefix) && !own ? RejectedRoute::kLinkLocal : RejectedRoute::kCount;
}

Placement placement(const RouteMessage& m) {
  if (m.replaces) return Placement::kReplace;
  return m.appends ? Placement::kLast : Placement::kFirst;
}

}  // namespace

KernelRoutes::KernelRoutes(RouteSink& sink, const Interfaces& interfaces, const Nexthops& nexthops,
                           const Distances& distances)
    : sink_(sink), interfaces_(interfaces), nexthops_(nexthops), distances_(distances) {}

bool KernelRoutes::rejects(const RouteMessage& message) {
  const RejectedRoute reason = rejection(message);
  if (reason == RejectedRoute::kCount) return false;
  ++counts_.rejected[static_cast<size_t>(reason)];
  return true;
}

std::shared_ptr<const Hops> KernelRoutes::share(const Hops& hops) {
  // A next hop is alive again with its interface, without a message.
  const auto revives = [this](const Hop& h) { return h.dead && !interfaces_.usable(h.interface); };
  if (std::none_of(hops.begin(), hops.end(), revives)) return hops_.get(hops);
  Hops alive = hops;
  for (Hop& hop : alive) hop.dead = hop.dead && !revives(hop);
  return hops_.get(alive);
}

KernelRoute KernelRoutes::make(const RouteMessage& m, uint32_t generation) {
  return {.local_table = m.table == RT_TABLE_LOCAL,
          .type = m.type,
          .protocol = m.protocol,
          .metric = m.metric,
          .nexthop = m.nexthop,
          .source = m.source,
          .generation = generation,
          .hops = share(m.hops)};
}

void KernelRoutes::count(const RouteList& routes, bool ipv6, int64_t sign) {
  const auto step = static_cast<uint64_t>(sign);
  (ipv6 ? counts_.ipv6 : counts_.ipv4) += step * routes.size();
  for (const KernelRoute& r : routes) {
    if (r.status != RouteStatus::kCount) counts_.held[static_cast<size_t>(r.status)] += step;
    if (r.nexthop == 0) continue;
    const auto users = nexthop_users_.try_emplace(r.nexthop).first;
    users->second += step;
    if (users->second == 0) nexthop_users_.erase(users);
  }
}

template <class P>
void KernelRoutes::close(Slots<P>& slots, typename Slots<P>::iterator at) {
  tell(at->first, at->second);
  count(at->second.routes, std::is_same_v<P, config::Ipv6Prefix>, 1);
  if (at->second.routes.empty()) slots.erase(at);
}

void KernelRoutes::tell(const Prefix& prefix, Slot& slot) {
  bool found = false;
  std::shared_ptr<const Route> best;
  for (KernelRoute& r : slot.routes) {
    r.status = found ? RouteStatus::kWorse
                     : resolve_route(prefix, r, interfaces_, nexthops_, distances_, scratch_);
    if (r.status != RouteStatus::kInstalled) continue;
    found = true;
    best = told_.get(scratch_);
  }
  if (best == slot.told) return;
  const bool same_key = best != nullptr && slot.told != nullptr &&
                        best->distance == slot.told->distance && best->metric == slot.told->metric;
  if (slot.told != nullptr && !same_key) {
    sink_.erase_route(prefix, slot.told->distance, slot.told->metric);
  }
  if (best != nullptr) sink_.set_route(prefix, *best);
  slot.told = std::move(best);
  changed_ = true;
}

template <class P>
bool KernelRoutes::apply_to(Slots<P>& slots, const P& prefix, const RouteMessage& message) {
  constexpr bool kIpv6 = std::is_same_v<P, config::Ipv6Prefix>;
  const auto at = slots.try_emplace(prefix).first;
  RouteList& routes = at->second.routes;
  count(routes, kIpv6, -1);
  const auto join = [this](const Hops& hops) { return hops_.get(hops); };
  KernelRoute route = make(message, 0);
  bool certain = true;
  if (message.removed) {
    const bool group = has_group(routes, route);
    const bool removed = kIpv6 ? remove_ipv6(routes, route, join) : remove_ipv4(routes, route);
    if (!removed) ++counts_.unknown_removed;
    // Of a group without the route that left it, something else is wrong, too.
    certain = removed || !group;
  } else if (kIpv6) {
    certain = insert_ipv6(routes, std::move(route), placement(message), join);
  } else {
    insert_ipv4(routes, std::move(route), placement(message));
  }
  close<P>(slots, at);
  if (!certain) ++counts_.ambiguous;
  return certain;
}

bool KernelRoutes::apply(const RouteMessage& message) {
  if (rejects(message)) return true;
  if (const auto* v4 = std::get_if<config::Ipv4Prefix>(&message.prefix)) {
    return apply_to(ipv4_, *v4, message);
  }
  return apply_to(ipv6_, std::get<config::Ipv6Prefix>(message.prefix), message);
}

void KernelRoutes::apply_dumped(const RouteMessage& message, uint32_t generation) {
  if (rejects(message)) return;
  const auto insert = [&](auto& slots, const auto& prefix) {
    using P = std::decay_t<decltype(prefix)>;
    const auto at = slots.try_emplace(prefix).first;
    count(at->second.routes, std::is_same_v<P, config::Ipv6Prefix>, -1);
    insert_dumped(at->second.routes, make(message, generation));
    close<P>(slots, at);
  };
  if (const auto* v4 = std::get_if<config::Ipv4Prefix>(&message.prefix)) {
    insert(ipv4_, *v4);
  } else {
    insert(ipv6_, std::get<config::Ipv6Prefix>(message.prefix));
  }
}

template <class P, class Concerned>
void KernelRoutes::change_all(Slots<P>& slots, bool remove, const Concerned& concerned) {
  for (auto at = slots.begin(); at != slots.end();) {
    const auto next = std::next(at);
    RouteList& routes = at->second.routes;
    if (std::any_of(routes.begin(), routes.end(), concerned)) {
      count(routes, std::is_same_v<P, config::Ipv6Prefix>, -1);
      if (remove) std::erase_if(routes, concerned);
      close<P>(slots, at);
    }
    at = next;
  }
}

void KernelRoutes::purge(bool ipv6, const std::function<bool(const KernelRoute&)>& gone) {
  if (ipv6) {
    change_all(ipv6_, true, gone);
  } else {
    change_all(ipv4_, true, gone);
  }
}

void KernelRoutes::sweep(bool ipv6, uint32_t generation) {
  purge(ipv6, [generation](const KernelRoute& r) { return r.generation != generation; });
}

void KernelRoutes::refresh(const std::function<bool(const KernelRoute&)>& concerned) {
  change_all(ipv4_, false, concerned);
  change_all(ipv6_, false, concerned);
}

}  // namespace turnpike::router
