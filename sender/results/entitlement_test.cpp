// SPDX-License-Identifier: BSD-3-Clause
// Tests proportional fairness against closed forms and against the conditions of the optimum.
#include "sender/results/entitlement.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace turnpike::sender {
namespace {

/// A demand with load 1 on each of these links.
Demand demand(double weight, std::initializer_list<size_t> links) {
  Demand d{weight, {}};
  for (const size_t l : links) d.path.push_back({l, 1});
  return d;
}

void expect_rates(const Entitlement& e, std::initializer_list<double> rates, double tolerance) {
  size_t i = 0;
  for (const double r : rates) EXPECT_NEAR(e.rates[i++] / r, 1, tolerance) << i;
}

TEST(Entitlement, OneLinkIsSplitByWeight) {
  const auto e = entitlement({demand(1, {0}), demand(1, {0}), demand(2, {0})}, {100});
  expect_rates(e, {25, 25, 50}, 1e-6);
  EXPECT_NEAR(e.prices[0], 4 / 100., 1e-8);
}

TEST(Entitlement, TwoLinksInARow) {  // 50 and 100 Mbps: 50 = r0 + r1, 100 = r0 + r2
  const auto e = entitlement({demand(1, {0, 1}), demand(1, {0}), demand(1, {1})}, {50, 100});
  const double r0 = 50 - 50 / std::sqrt(3);  // root of 3 r^2 - 300 r + 5000 = 0
  expect_rates(e, {r0, 50 - r0, 100 - r0}, 1e-6);
  EXPECT_NEAR(e.rates[0], 21.13, 0.01);
  EXPECT_NEAR(e.rates[1], 28.87, 0.01);
  EXPECT_NEAR(e.rates[2], 78.87, 0.01);
  EXPECT_NEAR(e.prices[0], 1 / (50 - r0), 1e-7);
  EXPECT_NEAR(e.prices[1], 1 / (100 - r0), 1e-7);
}

TEST(Entitlement, HostsThatSplitTheirBudget) {
  // Two links, 250 and 50 Mbps: S1 puts X on the first and 2 - X on the second, others 1.5 and 0.5.
  for (const double x : {1.0, 0.2753, 1.6791}) {
    const auto e = entitlement(
        {demand(x, {0}), demand(1.5, {0}), demand(2 - x, {1}), demand(.5, {1})}, {250, 50});
    expect_rates(
        e, {250 * x / (x + 1.5), 375 / (x + 1.5), 50 * (2 - x) / (2.5 - x), 25 / (2.5 - x)}, 1e-6);
  }
  const auto equal = entitlement(
      {demand(1, {0}), demand(1, {0}), demand(.5, {0}), demand(1, {1}), demand(.5, {1})},
      {250, 50});
  expect_rates(equal, {100, 100, 50, 100 / 3., 50 / 3.}, 1e-6);
}

TEST(Entitlement, BackgroundGetsAlmostNothing) {
  const auto e = entitlement({demand(1, {0, 1}), demand(1, {0}), demand(1, {1}), demand(1e-4, {1})},
                             {50, 100});
  EXPECT_NEAR(e.rates[0], 21.13, 0.01);
  EXPECT_NEAR(e.rates[3], 0.0079, 0.0001);
}

TEST(Entitlement, IdleLinksCostNothing) {
  const auto e =
      entitlement({demand(1, {0, 1, 2}), demand(0, {2}), demand(3, {})}, {1e4, 100, 1e4, 7});
  EXPECT_NEAR(e.rates[0], 100, 1e-4);
  EXPECT_EQ(e.rates[1], 0);
  EXPECT_EQ(e.rates[2], 0);
  EXPECT_EQ(e.prices[0], 0);
  EXPECT_GT(e.prices[1], 0);
  EXPECT_EQ(e.prices[2], 0);
  EXPECT_EQ(e.prices[3], 0);
  EXPECT_EQ(entitlement({}, {}).rates.size(), 0u);
}

TEST(Entitlement, LinksAlikeInARowShareOnePrice) {
  const auto e = entitlement({demand(1, {0, 1, 2}), demand(1, {0, 1, 2})}, {100, 100, 100});
  expect_rates(e, {50, 50}, 1e-6);
  EXPECT_NEAR(e.prices[0] + e.prices[1] + e.prices[2], 2 / 100., 1e-7);
}

TEST(Entitlement, LoadsCountTheLinksOverhead) {
  Demand small = demand(1, {}), large = demand(1, {});
  small.path = {{0, 2}};  // two units of the link's capacity per unit of rate
  large.path = {{0, 1}};
  expect_rates(entitlement({small, large}, {100}), {25, 50}, 1e-6);
}

// Solving for all links at once would take hours.
TEST(Entitlement, ThousandsOfLinksWithRoomCostNoTime) {
  constexpr size_t kHosts = 5000;
  std::vector<Demand> demands;
  std::vector<double> capacities(kHosts + 1, 1e9);
  for (size_t h = 0; h < kHosts; ++h) demands.push_back(demand(1, {h, kHosts}));
  capacities[7] = 1000;  // one of them has none
  const auto e = entitlement(demands, capacities);
  EXPECT_NEAR(e.rates[7], 1000, 1e-2);
  EXPECT_NEAR(e.rates[8] / ((1e9 - 1000) / (kHosts - 1)), 1, 1e-6);
  EXPECT_EQ(e.prices[8], 0);
  EXPECT_GT(e.prices[7], 0);
}

/// Karush-Kuhn-Tucker conditions, which hold at the optimum alone: no link is overloaded, only full
/// links have a price, and each rate is its weight over the price of its path.
TEST(Entitlement, RandomNetworksMeetTheOptimumsConditions) {
  std::mt19937_64 random(1);
  const auto uniform = [&](double a, double b) {
    return a + (b - a) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  for (int trial = 0; trial < 300; ++trial) {
    const size_t links = 1 + random() % 12, flows = 1 + random() % 30;
    std::vector<double> capacities(links);
    for (double& c : capacities) c = std::pow(10, uniform(5, 11));
    if (trial % 3 == 0) capacities.assign(links, 1e8);  // equal capacities: ties
    std::vector<Demand> demands(flows);
    for (Demand& d : demands) {
      d.weight = std::pow(10, uniform(-3, 3));
      for (size_t l = 0; l < links; ++l)
        if (random() % 3 == 0) d.path.push_back({l, uniform(1, 1.3)});
      if (d.path.empty()) d.path.push_back({random() % links, 1});
    }
    const auto e = entitlement(demands, capacities);
    std::vector<double> load(links, 0);
    for (size_t i = 0; i < flows; ++i) {
      double price = 0;
      for (const Crossing& c : demands[i].path) {
        load[c.link] += e.rates[i] * c.load;
        price += c.load * e.prices[c.link];
      }
      ASSERT_NEAR(e.rates[i] * price / demands[i].weight, 1, 1e-5) << trial;
    }
    for (size_t l = 0; l < links; ++l) {
      ASSERT_LE(load[l], capacities[l] * (1 + 1e-6)) << trial;
      if (e.prices[l] > 0) {
        ASSERT_GE(load[l], capacities[l] * (1 - 2e-6)) << trial;
      }
    }
    const auto again = entitlement(demands, capacities);
    ASSERT_EQ(e.rates, again.rates);
  }
}

}  // namespace
}  // namespace turnpike::sender
