// SPDX-License-Identifier: BSD-3-Clause
// Shares the buckets of a set of paths by weight, and moves few of them when the set changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "router/control/routes.h"

namespace turnpike::router {

struct WeightedHop {
  uint32_t hop = 0;
  uint32_t weight = 1;  // > 0

  bool operator==(const WeightedHop&) const = default;
};

/// Shares as close to the weights as 256 buckets allow. `hops`: at least one, each once; beyond 256
/// those of the least weight may get none. Resilient in the sense of RFC 2992 5:
///
/// - If hops were only removed since `before`, every bucket of a remaining hop stays.
/// - Otherwise a hop that should have more buckets takes them from those that have most too many,
///   one at a time; all other buckets stay.
///
/// `before` and `buckets_before`: of the set that this one replaces; empty: of none.
PathSet::Buckets share_buckets(std::span<const WeightedHop> hops,
                               std::span<const WeightedHop> before,
                               const PathSet::Buckets& buckets_before);

}  // namespace turnpike::router
