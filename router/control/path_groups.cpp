// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/path_groups.h"

#include <algorithm>

namespace turnpike::router {

std::vector<WeightedHop> PathGroups::members_of(uint32_t list) {
  std::vector<WeightedHop> members;
  for (const Path& p : lists_[list]) {
    const uint32_t hop = hops_.take({.link = p.link, .gateway = p.gateway});
    const auto same = std::ranges::find(members, hop, &WeightedHop::hop);
    if (same == members.end()) {
      members.push_back({.hop = hop, .weight = p.weight});
    } else {
      same->weight += p.weight;
      hops_.release(hop);
    }
  }
  return members;
}

uint32_t PathGroups::take(uint32_t list, uint32_t before) {
  const bool follows = hops_[before].action == NextHop::Action::kPaths;
  History history{0, list};
  if (follows) {
    const Group& former = groups_[hops_[before].id];
    if (former.history.second == list) {
      hops_.hold(before);
      return before;
    }
    history.first = former.serial;
  }
  const auto [at, fresh] = by_history_.emplace(history, 0);
  if (!fresh) {
    hops_.hold(at->second);
    return at->second;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(groups_.size()));
    groups_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  lists_.hold(list);
  Group& g = groups_[number];
  g = {.serial = ++serials_, .history = history, .members = members_of(list)};
  const Group none;
  const Group& former = follows ? groups_[hops_[before].id] : none;
  g.buckets = share_buckets(g.members, former.members, former.buckets);
  PathSet set{.buckets = g.buckets, .links = {}};
  for (const WeightedHop& m : g.members) set.links.push_back(hops_[m.hop].link);
  std::ranges::sort(set.links);
  changes_.emplace_back(number, std::move(set));
  return at->second = hops_.add({.action = NextHop::Action::kPaths, .id = number});
}

void PathGroups::release(uint32_t hop) {
  const NextHop released = hops_[hop];
  if (!hops_.release(hop) || released.action != NextHop::Action::kPaths) return;
  Group& g = groups_[released.id];
  for (const WeightedHop& m : g.members) hops_.release(m.hop);
  lists_.release(g.history.second);
  by_history_.erase(g.history);
  g = {};
  free_.push_back(released.id);
}

}  // namespace turnpike::router
