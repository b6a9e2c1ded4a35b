// SPDX-License-Identifier: BSD-3-Clause
// The sets of paths of routes with several, shared by all routes that came to them the same way.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "router/control/next_hops.h"
#include "router/control/path_buckets.h"
#include "router/control/path_lists.h"

namespace turnpike::router {

/// A set that replaces another one takes over its buckets, see share_buckets(). So which buckets a
/// path has depends on the sets before, and a set is shared by routes with the same paths and the
/// same set before.
class PathGroups {
 public:
  using Changes = std::vector<std::pair<uint32_t, PathSet>>;

  /// Both must outlive it.
  PathGroups(NextHops& hops, PathLists& lists) : hops_(hops), lists_(lists) {}

  /// The next hop (kPaths) of a list of several paths, with a reference more. `before`: the next
  /// hop that it replaces, of any action.
  uint32_t take(uint32_t list, uint32_t before);
  /// Takes back a reference to any next hop.
  void release(uint32_t hop);

  /// Sets added since the last call.
  Changes take_changes() { return std::exchange(changes_, {}); }
  [[nodiscard]] size_t size() const { return by_history_.size(); }

 private:
  /// Serial number of the set before, 0: none; number of the list.
  using History = std::pair<uint64_t, uint32_t>;
  struct Group {
    uint64_t serial = 0;  // never used twice
    History history;
    std::vector<WeightedHop> members;
    PathSet::Buckets buckets{};
  };

  [[nodiscard]] std::vector<WeightedHop> members_of(uint32_t list);

  NextHops& hops_;
  PathLists& lists_;
  std::vector<Group> groups_;  // by NextHop::id
  std::vector<uint32_t> free_;
  std::map<History, uint32_t> by_history_;  // to next hops
  uint64_t serials_ = 0;
  Changes changes_;
};

}  // namespace turnpike::router
