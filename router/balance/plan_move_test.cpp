// SPDX-License-Identifier: BSD-3-Clause
#include "router/balance/plan_move.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace turnpike::router {
namespace {

constexpr size_t kPlanBuckets = 128;

/// Ports whose buckets have given loads, in millionths of an lcore's time: one packet costs one.
class Loads {
 public:
  Loads(size_t lcores, size_t ports) : lcores_(lcores), ports_(ports) {
    for (Port& p : ports_)
      for (size_t b = 0; b < kPlanBuckets; ++b) p.table[b] = static_cast<uint16_t>(b % lcores);
  }
  struct Port {
    std::vector<uint16_t> table = std::vector<uint16_t>(kPlanBuckets);
    std::vector<uint64_t> packets = std::vector<uint64_t>(kPlanBuckets);
    std::vector<uint8_t> stays = std::vector<uint8_t>(kPlanBuckets);
  };
  Port& port(size_t p) { return ports_[p]; }

  [[nodiscard]] std::vector<double> busy() const {
    std::vector<double> busy(lcores_);
    for (const Port& p : ports_)
      for (size_t b = 0; b < kPlanBuckets; ++b)
        busy[p.table[b]] += static_cast<double>(p.packets[b]) * 1e-6;
    return busy;
  }
  [[nodiscard]] std::optional<PlannedMove> plan(const BalanceLimits& limits = {}) const {
    std::vector<BucketSample> samples;
    for (const Port& p : ports_) samples.push_back({p.table, p.packets, p.stays});
    return plan_move(busy(), samples, limits);
  }
  void apply(const PlannedMove& move) {
    for (const uint16_t b : move.buckets) {
      EXPECT_EQ(ports_[move.port].table[b], move.from);
      ports_[move.port].table[b] = move.to;
    }
  }
  [[nodiscard]] double most() const { return std::ranges::max(busy()); }

 private:
  size_t lcores_;
  std::vector<Port> ports_;
};

TEST(PlanMove, DoesNothingWhileLoadsAreWithinTheBand) {
  Loads l(2, 1);
  for (size_t b = 0; b < kPlanBuckets; ++b) l.port(0).packets[b] = b % 2 == 0 ? 10'000 : 8'000;
  ASSERT_NEAR(l.busy()[0] - l.busy()[1], 0.128, 1e-9);
  EXPECT_FALSE(l.plan());
  EXPECT_FALSE(unequal(l.busy(), {}));
  EXPECT_TRUE(l.plan({.band = 0.1}));
  EXPECT_TRUE(unequal(l.busy(), {.band = 0.1}));
}

TEST(PlanMove, GivesHalfOfTheDifferenceToTheLeastBusyLcore) {
  Loads l(3, 2);
  for (size_t b = 0; b < kPlanBuckets; b += 3) l.port(1).packets[b] = 20'000;  // lcore 0: 0.86
  for (size_t b = 1; b < kPlanBuckets; b += 3) l.port(0).packets[b] = 10'000;  // lcore 1: 0.43
  const auto move = l.plan({.max_buckets = 100});
  ASSERT_TRUE(move);
  EXPECT_EQ(move->port, 1U);
  EXPECT_EQ(move->from, 0);
  EXPECT_EQ(move->to, 2);
  EXPECT_EQ(move->buckets.size(), 21U);
  EXPECT_NEAR(move->load, 0.42, 1e-9);
}

TEST(PlanMove, LeavesAnElephantAndMovesTheOthers) {
  Loads l(2, 1);
  l.port(0).packets[4] = 600'000;
  for (size_t b = 6; b < kPlanBuckets; b += 2) l.port(0).packets[b] = 5'000;
  std::vector<uint16_t> moved;
  for (int i = 0; i < 20; ++i) {
    const auto move = l.plan();
    if (!move) break;
    l.apply(*move);
    moved.insert(moved.end(), move->buckets.begin(), move->buckets.end());
  }
  EXPECT_EQ(std::ranges::count(moved, 4), 0);
  EXPECT_FALSE(l.plan()) << "an elephant is moved in the end";
  EXPECT_NEAR(l.busy()[0], 0.6, 0.04);
  std::ranges::sort(moved);
  EXPECT_EQ(std::ranges::adjacent_find(moved), moved.end()) << "a bucket moved twice";
}

TEST(PlanMove, AnLcoreWithNothingToGiveDoesNotHoldUpOthers) {
  Loads l(3, 1);
  l.port(0).packets[3] = 950'000;                                              // lcore 0
  for (size_t b = 1; b < kPlanBuckets; b += 3) l.port(0).packets[b] = 15'000;  // lcore 1: 0.65
  const auto move = l.plan();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->from, 1);
  EXPECT_EQ(move->to, 2);
}

TEST(PlanMove, KeepsItsBounds) {
  Loads l(2, 1);
  for (size_t b = 0; b < kPlanBuckets; b += 2) l.port(0).packets[b] = 14'000;
  EXPECT_EQ(l.plan({.max_buckets = 3})->buckets.size(), 3U);
  EXPECT_EQ(l.plan({.max_packets = 28'000})->buckets.size(), 2U);
  EXPECT_FALSE(l.plan({.max_packets = 13'999}));
  EXPECT_FALSE(l.plan({.min_gain = 0.9}));
  std::ranges::fill(l.port(0).stays, uint8_t{1});
  l.port(0).stays[10] = 0;
  EXPECT_EQ(l.plan({.min_gain = 0})->buckets, std::vector<uint16_t>{10});
}

TEST(PlanMove, NothingToMoveWithoutPackets) {
  const std::vector<double> busy{0.9, 0.1};  // by work that no port of these brings
  const Loads l(2, 1);
  EXPECT_FALSE(plan_move(busy, {}, {}));
  EXPECT_FALSE(l.plan());
}

RC_GTEST_PROP(PlanMove, NeverMakesTheBusiestLcoreBusierAndEnds, ()) {
  const auto lcores = *rc::gen::inRange<size_t>(2, 9);
  const auto ports = *rc::gen::inRange<size_t>(1, 4);
  Loads l(lcores, ports);
  for (size_t p = 0; p < ports; ++p)
    for (size_t b = 0; b < kPlanBuckets; ++b) {
      l.port(p).table[b] = static_cast<uint16_t>(*rc::gen::inRange<size_t>(0, lcores));
      const bool elephant = *rc::gen::inRange(0, 40) == 0;
      l.port(p).packets[b] = *rc::gen::inRange<uint64_t>(0, elephant ? 500'000 : 20'000 / ports);
    }
  const double before = l.most();
  // Each move takes at least min_gain from an lcore to one that stays below it: the sum of squares
  // falls by 2 * min_gain * (gap - min_gain) or more.
  int moves = 0;
  for (double most = before; const auto move = l.plan(); most = l.most()) {
    l.apply(*move);
    RC_ASSERT(l.most() <= most + 1e-9);
    RC_ASSERT(++moves < 4000);
  }
  RC_ASSERT(!l.plan());
}

}  // namespace
}  // namespace turnpike::router
