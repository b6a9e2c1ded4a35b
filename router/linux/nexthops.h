// SPDX-License-Identifier: BSD-3-Clause
// The kernel's nexthop objects and groups (ip-nexthop(8)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "router/linux/messages.h"
#include "router/linux/route_list.h"

namespace turnpike::router {

class Nexthops {
 public:
  /// Identifiers that a change concerns.
  struct Change {
    std::vector<uint32_t> removed;  // the kernel removes their routes without a word
    std::vector<uint32_t> changed;  // their routes have other next hops now
  };

  /// Adds or replaces an object. Groups that have it as a member change with it.
  Change set(NexthopMessage object, uint32_t generation);
  /// Removes an object, its memberships, and the groups that are empty then.
  Change erase(uint32_t id);
  /// Removes the objects of an interface, as the kernel does when it goes down.
  Change erase_interface(uint32_t interface);
  /// Removes the objects that the dump `generation` has not listed.
  Change sweep(uint32_t generation);

  /// The next hops of an object; for a group those of its members, by weight. Returns false if the
  /// object is unknown. `blackhole`: packets are dropped.
  bool resolve(uint32_t id, Hops& hops, bool& blackhole) const;

  [[nodiscard]] size_t size() const { return all_.size(); }

 private:
  struct Object {
    NexthopMessage message;
    uint32_t generation = 0;
  };
  void erase_into(uint32_t id, Change& change);
  void leave_groups(uint32_t group, const NexthopMessage& former);
  std::unordered_map<uint32_t, Object> all_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> groups_of_;  // member -> groups
};

}  // namespace turnpike::router
