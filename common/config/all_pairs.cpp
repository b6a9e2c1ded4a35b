// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/all_pairs.h"

#include <algorithm>
#include <map>

namespace turnpike::config {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

/// Whether all routes to a host follow from the router that it is attached to.
bool computed(const Topology& t) {
  return std::ranges::all_of(t.routers, [](const Router& r) {
    return r.ipv4_by_hand + r.ipv4_in_table + r.ipv6_by_hand + r.ipv6_in_table == 0;
  });
}

}  // namespace

AllPairs::AllPairs(const Topology& topology, const std::vector<size_t>& hosts, unsigned ip_version,
                   const Threads& threads)
    : topology_(topology),
      threads_(threads),
      paths_(topology),
      ip_version_(ip_version),
      place_of_(topology.hosts.size(), kNowhere) {
  const bool shared = computed(topology);
  std::map<size_t, size_t> at_router;
  for (const size_t h : hosts) {
    const Host& host = topology.hosts[h];
    const auto router = paths_.router_after({host.link, host.end});
    if (!router || place_of_[h] != kNowhere) continue;
    const auto [place, fresh] = at_router.emplace(shared ? *router : h, host_at_.size());
    if (fresh) {
      host_at_.push_back(h);
      router_at_.push_back(*router);
    }
    place_of_[h] = place->second;
  }
  rests_.resize(host_at_.size() * topology.routers.size());
  paths_.sort(ip_version, threads_);
  threads_.for_each(host_at_.size(), [&](size_t place) { find_rests(place); });
}

Nanos AllPairs::own_delay(size_t host) const {
  const Link& link = topology_.links[topology_.hosts[host].link];
  return link.directions[0].delay + link.directions[1].delay;
}

AllPairs::Tree AllPairs::tree_to(size_t place) {
  const Host& to = topology_.hosts[host_at_[place]];
  std::vector<bool> asked(topology_.routers.size());
  Tree tree{.routers = {}, .hops = std::vector<std::optional<Hop>>(asked.size())};
  for (const size_t from : router_at_) {
    std::vector<size_t> path;
    for (std::optional<size_t> router = from; router && !asked[*router];) {
      asked[*router] = true;
      path.push_back(*router);
      const auto hop = paths_.next_hop(*router, host_at_[place], ip_version_);
      if (hop && hop->link == to.link) tree.arrives = true;
      if (!hop || hop->link == to.link) break;
      tree.hops[*router] = hop;
      router = paths_.router_after(*hop);
    }
    tree.routers.insert(tree.routers.end(), path.rbegin(), path.rend());
  }
  return tree;
}

void AllPairs::find_rests(size_t place) {
  const Tree tree = tree_to(place);
  if (tree.arrives) rest(place, router_at_[place]).delay = Nanos(0);
  for (const size_t r : tree.routers) {
    const auto& hop = tree.hops[r];
    const auto next = hop ? paths_.router_after(*hop) : std::nullopt;
    if (!next || r == router_at_[place]) continue;
    const Rest& after = rest(place, *next);
    if (after.delay == kNever) continue;  // no path, or a loop
    const Link& link = topology_.links[hop->link];
    rest(place, r) = {after.delay + link.directions[hop->direction].delay,
                      std::min(after.mtu, link.mtu)};
  }
}

std::vector<AllPairs::Group> AllPairs::groups_of(const std::vector<size_t>& hosts) const {
  std::vector<Group> groups(host_at_.size());
  for (const size_t h : hosts) {
    if (place_of_[h] == kNowhere) continue;
    Group& group = groups[place_of_[h]];
    group.hosts.push_back(h);
    const Nanos delay = own_delay(h);
    if (delay > group.longest) {
      group.second = group.longest;
      group.longest = delay;
      group.farthest = h;
    } else {
      group.second = std::max(group.second, delay);
    }
  }
  return groups;
}

/// Between the routers of two places, there and back; kNone: there is no path.
Nanos AllPairs::between(size_t place, size_t other) {
  const Nanos there = rest(other, router_at_[place]).delay;
  const Nanos back = rest(place, router_at_[other]).delay;
  return there == kNever || back == kNever ? kNone : there + back;
}

/// The longest delays of the own links of two different hosts; kNone: there are no two.
Nanos AllPairs::longest(const Group& from, const Group& to, bool same_place) {
  const auto sum = [](Nanos a, Nanos b) { return a == kNone || b == kNone ? kNone : a + b; };
  if (!same_place || from.farthest != to.farthest) return sum(from.longest, to.longest);
  return std::max(sum(from.longest, to.second), sum(from.second, to.longest));
}

/// Raises the round trips of links that paths to the hosts of `to`, at `place`, cross between
/// routers.
void AllPairs::raise_between(const Tree& tree, const std::vector<Group>& from, size_t place,
                             const Group& to, RoundTrips& round_trips) {
  if (to.hosts.empty()) return;
  std::vector<Nanos> across(topology_.routers.size(), kNone);  // longest of those that come by
  for (size_t s = 0; s < from.size(); ++s) {
    const Nanos own = longest(from[s], to, s == place), rest = between(s, place);
    if (own == kNone || rest == kNone) continue;
    Nanos& here = across[router_at_[s]];
    here = std::max(here, own + rest);
  }
  for (auto r = tree.routers.rbegin(); r != tree.routers.rend(); ++r) {
    const auto& hop = tree.hops[*r];
    if (!hop || across[*r] == kNone) continue;
    Nanos& link = round_trips[hop->link][hop->direction];
    link = std::max(link, across[*r]);
    if (const auto next = paths_.router_after(*hop))
      across[*next] = std::max(across[*next], across[*r]);
  }
}

/// The same of paths from one list to the other and back.
void AllPairs::raise_between(const std::vector<Group>& some, const std::vector<Group>& others,
                             RoundTrips& round_trips) {
  // A thread raises round trips of its own, for a share of the places.
  const size_t places = host_at_.size(), shares = std::min<size_t>(places, 4 * threads_.count());
  std::vector<RoundTrips> raised(shares, RoundTrips(round_trips.size()));
  threads_.for_each(shares, [&](size_t share) {
    for (size_t place = share; place < places; place += shares) {
      const Tree tree = tree_to(place);
      raise_between(tree, some, place, others[place], raised[share]);
      raise_between(tree, others, place, some[place], raised[share]);
    }
  });
  for (const RoundTrips& share : raised)
    for (size_t l = 0; l < share.size(); ++l)
      for (size_t d = 0; d < 2; ++d) round_trips[l][d] = std::max(round_trips[l][d], share[l][d]);
}

/// Raises the round trips of the own links of the hosts in `from`.
void AllPairs::raise_own(const std::vector<Group>& from, const std::vector<Group>& to,
                         RoundTrips& round_trips) {
  threads_.for_each(from.size(), [&](size_t s) {
    if (from[s].hosts.empty()) return;
    Nanos elsewhere = kNone;  // the longest from the place's router on
    for (size_t d = 0; d < to.size(); ++d)
      if (const Nanos rest = between(s, d); d != s && rest != kNone && to[d].longest != kNone)
        elsewhere = std::max(elsewhere, rest + to[d].longest);
    for (const size_t h : from[s].hosts) {
      const Nanos here = to[s].farthest == h ? to[s].second : to[s].longest;
      const Nanos beyond = std::max(elsewhere, here);
      if (beyond == kNone) continue;
      for (Nanos& round : round_trips[topology_.hosts[h].link])
        round = std::max(round, own_delay(h) + beyond);
    }
  });
}

AllPairs::Found AllPairs::examine(const std::vector<size_t>& from, const std::vector<size_t>& to,
                                  RoundTrips& round_trips) {
  Found found;
  for (const auto* hosts : {&from, &to})
    for (const size_t h : *hosts) {
      found.mtu = std::min(found.mtu, topology_.links[topology_.hosts[h].link].mtu);
      if (place_of_[h] == kNowhere) found.unreachable.push_back({from.front(), h});
    }
  const std::vector<Group> sources = groups_of(from), sinks = groups_of(to);
  std::vector<Found> at(sinks.size());  // by place of the sinks
  threads_.for_each(sinks.size(), [&](size_t d) {
    for (size_t s = 0; s < sources.size() && !sinks[d].hosts.empty(); ++s) {
      if (sources[s].hosts.empty() || s == d) continue;
      if (between(s, d) == kNone && at[d].unreachable.empty())
        at[d].unreachable.push_back({sources[s].hosts.front(), sinks[d].hosts.front()});
      at[d].mtu = std::min(at[d].mtu, rest(d, router_at_[s]).mtu);
    }
  });
  for (const Found& place : at) {
    found.mtu = std::min(found.mtu, place.mtu);
    found.unreachable.insert(found.unreachable.end(), place.unreachable.begin(),
                             place.unreachable.end());
  }
  raise_between(sources, sinks, round_trips);
  raise_own(sources, sinks, round_trips);
  raise_own(sinks, sources, round_trips);
  return found;
}

}  // namespace turnpike::config
