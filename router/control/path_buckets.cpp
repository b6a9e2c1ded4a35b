// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/path_buckets.h"

#include <algorithm>
#include <cmath>

namespace turnpike::router {

namespace {

/// A hop's buckets: how many it should have, and which it has.
struct Share {
  uint32_t hop = 0;
  double due = 0;
  std::vector<size_t> buckets;

  /// Buckets too many; negative: too few.
  [[nodiscard]] double excess() const { return static_cast<double>(buckets.size()) - due; }
};

Share& least_served(std::vector<Share>& shares) {
  return *std::ranges::min_element(shares, {}, &Share::excess);
}
Share& most_served(std::vector<Share>& shares) {
  return *std::ranges::max_element(shares, {}, &Share::excess);
}

bool only_removed(std::span<const WeightedHop> hops, std::span<const WeightedHop> before) {
  return std::ranges::all_of(
      hops, [&](const WeightedHop& h) { return std::ranges::find(before, h) != before.end(); });
}

}  // namespace

PathSet::Buckets share_buckets(std::span<const WeightedHop> hops,
                               std::span<const WeightedHop> before,
                               const PathSet::Buckets& buckets_before) {
  double weights = 0;
  for (const WeightedHop& h : hops) weights += h.weight;
  std::vector<Share> shares;
  for (const WeightedHop& h : hops) {
    const double due = PathSet::kBuckets * h.weight / weights;
    shares.push_back({.hop = h.hop, .due = due, .buckets = {}});
  }
  std::vector<size_t> free;
  for (size_t b = 0; b < PathSet::kBuckets; ++b) {
    const auto owner =
        before.empty() ? shares.end() : std::ranges::find(shares, buckets_before[b], &Share::hop);
    if (owner == shares.end()) {
      free.push_back(b);
    } else {
      owner->buckets.push_back(b);
    }
  }
  for (const size_t b : free) least_served(shares).buckets.push_back(b);
  // A bucket that moves makes the difference two smaller; up to one, that is no better.
  constexpr double kClose = 1 + 1e-9;
  while (!only_removed(hops, before)) {
    Share& from = most_served(shares);
    Share& to = least_served(shares);
    if (from.excess() - to.excess() < kClose || from.buckets.size() == 1) break;
    to.buckets.push_back(from.buckets.back());
    from.buckets.pop_back();
  }
  PathSet::Buckets buckets{};
  for (const Share& s : shares)
    for (const size_t b : s.buckets) buckets[b] = s.hop;
  return buckets;
}

}  // namespace turnpike::router
