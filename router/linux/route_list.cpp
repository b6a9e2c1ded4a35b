// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/route_list.h"

#include <algorithm>
#include <utility>

#include <linux/rtnetlink.h>

namespace turnpike::router {
namespace {

using Iterator = RouteList::iterator;

/// Before all routes of table main come those of table local; then the smaller metric.
bool precedes(const KernelRoute& a, const KernelRoute& b) {
  if (a.local_table != b.local_table) return a.local_table;
  return a.metric < b.metric;
}

/// The routes of the same table and metric.
std::pair<Iterator, Iterator> group_of(RouteList& list, const KernelRoute& route) {
  return std::equal_range(list.begin(), list.end(), route, precedes);
}

bool same_hop(const Hop& a, const Hop& b) {
  return a.interface == b.interface && a.gateway == b.gateway && a.weight == b.weight &&
         a.encapsulated == b.encapsulated;
}

/// Whether a message about one route is about the other. Next hops may die meanwhile.
bool equal(const KernelRoute& a, const KernelRoute& b) {
  return a.type == b.type && a.protocol == b.protocol && a.nexthop == b.nexthop &&
         a.source == b.source &&
         (a.hops == b.hops ||
          std::equal(a.hops->begin(), a.hops->end(), b.hops->begin(), b.hops->end(), same_hop));
}

Iterator find_equal(std::pair<Iterator, Iterator> group, const KernelRoute& route) {
  return std::find_if(group.first, group.second,
                      [&](const KernelRoute& r) { return equal(r, route); });
}

/// Whether the kernel joins the route with others to one multipath route
/// (rt6_qualify_for_ecmp): it has gateways of its own and is not from a router advertisement.
bool joins(const KernelRoute& route) {
  return route.type == RTN_UNICAST && route.nexthop == 0 && route.protocol != RTPROT_RA &&
         !route.hops->empty() && std::all_of(route.hops->begin(), route.hops->end(), [](auto& h) {
           return !std::holds_alternative<std::monostate>(h.gateway);
         });
}

bool same_neighbour(const Hop& a, const Hop& b) {
  return a.interface == b.interface && a.gateway == b.gateway;
}

bool contains(const Hops& hops, const Hop& hop) {
  return std::any_of(hops.begin(), hops.end(),
                     [&](const Hop& h) { return same_neighbour(h, hop); });
}

}  // namespace

void insert_ipv4(RouteList& list, KernelRoute route, Placement placement) {
  const auto group = group_of(list, route);
  if (const auto found = find_equal(group, route); found != group.second) {
    found->generation = route.generation;  // repeated, such as after a change of its nexthop object
    return;
  }
  if (placement == Placement::kReplace && group.first != group.second) {
    *group.first = std::move(route);
    return;
  }
  list.insert(placement == Placement::kLast ? group.second : group.first, std::move(route));
}

namespace {

/// A route that joins others: the message has all next hops, or appends one.
bool insert_multipath(RouteList& list, KernelRoute route, Placement placement,
                      const JoinHops& join) {
  const auto group = group_of(list, route);
  const auto kin = std::find_if(group.first, group.second, joins);
  if (kin == group.second) {
    if (placement == Placement::kLast || group.first == group.second) {
      list.insert(group.second, std::move(route));
      return true;
    }
    // The kernel replaces a route of the other sort if there is none of the same. A multipath
    // route, even of one next hop, that replaced others is announced without NLM_F_REPLACE, like
    // one that was added beside them (ip6_route_multipath_add).
    *group.first = std::move(route);
    return placement == Placement::kReplace;
  }
  if (placement == Placement::kLast) {
    route.protocol = kin->protocol;  // the kernel lists the route by its first next hop
    Hops hops = *kin->hops;
    for (const Hop& hop : *route.hops) {
      if (!contains(hops, hop)) hops.push_back(hop);
    }
    // The kernel changes weights only by replacing; where it sent all, its message is the truth.
    if (hops.size() != route.hops->size()) route.hops = join(hops);
  }
  *kin = std::move(route);
  return true;
}

/// A route of its own: over a device alone, by a nexthop object, a blackhole, ...
bool insert_single(RouteList& list, KernelRoute route, Placement placement) {
  const auto group = group_of(list, route);
  const auto same = find_equal(group, route);
  if (placement != Placement::kReplace || group.first == group.second) {
    if (same != group.second) {
      same->generation = route.generation;
    } else {
      list.insert(group.second, std::move(route));
    }
    return true;
  }
  // The kernel replaces the first route of the same sort, else the first, and may then have the
  // route twice.
  auto replaced = std::find_if_not(group.first, group.second, joins);
  if (replaced == group.second) replaced = group.first;
  // Of a nexthop object that was replaced, the kernel announces every route as replaced.
  const bool repeated = same != group.second && same != replaced && route.nexthop != 0;
  if (!repeated) *replaced = std::move(route);
  return !repeated;
}

}  // namespace

bool insert_ipv6(RouteList& list, KernelRoute route, Placement placement, const JoinHops& join) {
  if (joins(route)) return insert_multipath(list, std::move(route), placement, join);
  return insert_single(list, std::move(route), placement);
}

void insert_dumped(RouteList& list, KernelRoute route) {
  auto group = group_of(list, route);
  // After those that this dump has listed already; the kernel may have a route twice.
  const auto not_listed = [&](const KernelRoute& r) { return r.generation != route.generation; };
  const auto begin = std::find_if(group.first, group.second, not_listed);
  const auto place = begin - list.begin();
  if (const auto found = find_equal({begin, group.second}, route); found != group.second) {
    list.erase(found);
  }
  list.insert(list.begin() + place, std::move(route));
}

bool remove_ipv4(RouteList& list, const KernelRoute& route) {
  const auto group = group_of(list, route);
  const auto found = find_equal(group, route);
  if (found == group.second) return false;
  list.erase(found);
  return true;
}

bool remove_ipv6(RouteList& list, const KernelRoute& route, const JoinHops& join) {
  if (!joins(route)) return remove_ipv4(list, route);
  const auto group = group_of(list, route);
  const auto kin = std::find_if(group.first, group.second, joins);
  if (kin == group.second) return false;
  Hops left;
  for (const Hop& hop : *kin->hops) {
    if (!contains(*route.hops, hop)) left.push_back(hop);
  }
  if (left.size() == kin->hops->size()) return false;
  if (left.empty()) {
    list.erase(kin);
  } else {
    kin->hops = join(left);
  }
  return true;
}

bool has_group(const RouteList& list, const KernelRoute& route) {
  return std::binary_search(list.begin(), list.end(), route, precedes);
}

}  // namespace turnpike::router
