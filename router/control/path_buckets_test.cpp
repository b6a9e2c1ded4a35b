// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/path_buckets.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace turnpike::router {
namespace {

using WeightedHops = std::vector<WeightedHop>;

std::map<uint32_t, double> counts(const PathSet::Buckets& buckets) {
  std::map<uint32_t, double> n;
  for (const uint32_t hop : buckets) ++n[hop];
  return n;
}

/// Every hop has the buckets due to it, rounded up or down.
void expect_shares(const PathSet::Buckets& buckets, const WeightedHops& hops) {
  double weights = 0;
  for (const WeightedHop& h : hops) weights += h.weight;
  auto n = counts(buckets);
  for (const WeightedHop& h : hops)
    EXPECT_NEAR(n[h.hop], PathSet::kBuckets * h.weight / weights, 1) << "hop " << h.hop;
}

TEST(PathBuckets, FollowTheWeights) {
  for (const WeightedHops& hops : {WeightedHops{{7, 1}}, WeightedHops{{7, 1}, {8, 1}, {9, 1}},
                                   WeightedHops{{7, 1}, {8, 2}, {9, 5}, {10, 250}},
                                   WeightedHops{{1, 65535}, {2, 65535}, {3, 1}}}) {
    expect_shares(share_buckets(hops, {}, {}), hops);
  }
}

TEST(PathBuckets, NoBucketOfARemainingHopMovesOnRemoval) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    WeightedHops hops;
    for (uint32_t i = 0; i < 2 + random() % 14; ++i)
      hops.push_back({i + 1, 1 + static_cast<uint32_t>(random() % 9)});
    PathSet::Buckets buckets = share_buckets(hops, {}, {});
    while (hops.size() > 1) {
      const WeightedHops before = hops;
      hops.erase(hops.begin() + static_cast<ptrdiff_t>(random() % hops.size()));
      const PathSet::Buckets next = share_buckets(hops, before, buckets);
      for (size_t b = 0; b < PathSet::kBuckets; ++b) {
        const bool stays = std::ranges::find(hops, buckets[b], &WeightedHop::hop) != hops.end();
        if (stays) {
          ASSERT_EQ(next[b], buckets[b]);
        }
      }
      buckets = next;
    }
    EXPECT_EQ(counts(buckets)[hops[0].hop], PathSet::kBuckets);
  }
}

TEST(PathBuckets, ANewHopTakesEvenlyFromTheOthers) {
  const WeightedHops before{{1, 1}, {2, 1}, {3, 1}}, after{{1, 1}, {2, 1}, {3, 1}, {4, 1}};
  const PathSet::Buckets old = share_buckets(before, {}, {});
  const PathSet::Buckets fresh = share_buckets(after, before, old);
  expect_shares(fresh, after);
  std::map<uint32_t, int> taken;
  for (size_t b = 0; b < PathSet::kBuckets; ++b) {
    if (fresh[b] == old[b]) continue;
    EXPECT_EQ(fresh[b], 4U) << "a bucket moved between hops that were there before";
    ++taken[old[b]];
  }
  for (const uint32_t hop : {1U, 2U, 3U}) EXPECT_NEAR(taken[hop], 64.0 / 3, 1);
}

TEST(PathBuckets, ChangedWeightsMoveNoMoreThanTheDifference) {
  const WeightedHops before{{1, 1}, {2, 1}}, after{{1, 3}, {2, 1}};
  const PathSet::Buckets old = share_buckets(before, {}, {});
  const PathSet::Buckets fresh = share_buckets(after, before, old);
  expect_shares(fresh, after);
  int moved = 0;
  for (size_t b = 0; b < PathSet::kBuckets; ++b) moved += fresh[b] != old[b];
  EXPECT_EQ(moved, 64);
}

TEST(PathBuckets, MoreHopsThanBuckets) {
  WeightedHops hops;
  for (uint32_t i = 0; i < 400; ++i) hops.push_back({i, 1});
  for (const auto& [hop, n] : counts(share_buckets(hops, {}, {}))) EXPECT_EQ(n, 1) << hop;
}

}  // namespace
}  // namespace turnpike::router
