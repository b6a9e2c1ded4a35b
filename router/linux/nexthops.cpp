// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/nexthops.h"

#include <utility>

namespace turnpike::router {

Nexthops::Change Nexthops::set(NexthopMessage object, uint32_t generation) {
  const uint32_t id = object.id;
  object.removed = false;
  const auto found = all_.find(id);
  if (found != all_.end() && found->second.message == object) {
    found->second.generation = generation;
    return {};
  }
  if (found != all_.end()) leave_groups(id, found->second.message);
  for (const auto& member : object.group) groups_of_[member.id].push_back(id);
  all_[id] = {.message = std::move(object), .generation = generation};
  Change change{.removed = {}, .changed = {id}};
  if (const auto groups = groups_of_.find(id); groups != groups_of_.end()) {
    change.changed.insert(change.changed.end(), groups->second.begin(), groups->second.end());
  }
  return change;
}

void Nexthops::leave_groups(uint32_t group, const NexthopMessage& former) {
  for (const auto& member : former.group) {
    const auto groups = groups_of_.find(member.id);
    if (groups == groups_of_.end()) continue;
    std::erase(groups->second, group);
    if (groups->second.empty()) groups_of_.erase(groups);
  }
}

void Nexthops::erase_into(uint32_t id, Change& change) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  leave_groups(id, found->second.message);
  all_.erase(found);
  change.removed.push_back(id);
  const auto groups = groups_of_.extract(id);
  if (groups.empty()) return;
  for (const uint32_t group : groups.mapped()) {
    const auto at = all_.find(group);
    if (at == all_.end()) continue;
    auto& members = at->second.message.group;
    std::erase_if(members, [&](const auto& m) { return m.id == id; });
    change.changed.push_back(group);
    if (members.empty()) erase_into(group, change);
  }
}

Nexthops::Change Nexthops::erase(uint32_t id) {
  Change change;
  erase_into(id, change);
  return change;
}

Nexthops::Change Nexthops::erase_interface(uint32_t interface) {
  std::vector<uint32_t> gone;
  for (const auto& [id, o] : all_) {
    if (o.message.hop.interface == interface) gone.push_back(id);
  }
  Change change;
  for (const uint32_t id : gone) erase_into(id, change);
  return change;
}

Nexthops::Change Nexthops::sweep(uint32_t generation) {
  std::vector<uint32_t> gone;
  for (const auto& [id, o] : all_) {
    if (o.generation != generation) gone.push_back(id);
  }
  Change change;
  for (const uint32_t id : gone) erase_into(id, change);
  return change;
}

bool Nexthops::resolve(uint32_t id, Hops& hops, bool& blackhole) const {
  const auto found = all_.find(id);
  if (found == all_.end()) return false;
  const NexthopMessage& object = found->second.message;
  blackhole = object.blackhole;
  if (object.group.empty()) {
    if (!object.blackhole && !object.bridge) hops.push_back(object.hop);
    return true;
  }
  for (const auto& [member, weight] : object.group) {
    const auto single = all_.find(member);
    if (single == all_.end()) continue;
    const NexthopMessage& m = single->second.message;
    // The kernel allows a blackhole only as the single member of a group.
    blackhole |= m.blackhole;
    if (m.blackhole || m.bridge) continue;
    Hop hop = m.hop;
    hop.weight = weight;
    hops.push_back(hop);
  }
  return true;
}

}  // namespace turnpike::router
