// SPDX-License-Identifier: BSD-3-Clause
// Groups' exchange rates against the budgets that they normalise, and on a link of a toy network.
#include "common/protocols/fcp/group_rates.h"

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"
#include "tests/support/fcp_network.h"

namespace turnpike::fcp::group_rates_test {
namespace {

using testing::ToyNetwork;

constexpr double kMemory = 0.4;  // s

/// Flows that commit their budgets in steady slots, from time 0 on.
struct Committers {
  std::vector<double> budgets;
  double slot;  // s

  /// Mean rate that the first group's packets get from `from` to `to`, s.
  double mean_rate(GroupRates& rates, double from, double to, unsigned shards = 1) const {
    double sum = 0, count = 0;
    for (int turn = 0; turn * slot < to; ++turn)
      for (size_t i = 0; i < budgets.size(); ++i) {
        const double t = turn * slot;
        const double offset = slot * static_cast<double>(i) / static_cast<double>(budgets.size());
        const float rate =
            rates.rate(static_cast<unsigned>(i) % shards, 0,
                       {.dollars = budgets[i] * slot, .budget = budgets[i], .slot = slot}, kMemory,
                       from_seconds(t + offset));
        if (t < from) continue;
        sum += double{rate};
        ++count;
      }
    return sum / count;
  }
};

TEST(GroupRates, AllBudgetsTogetherAreWorthTheWeight) {
  for (const double scale : {1e-9, 1.0, 1e9})
    for (const double slot : {0.001, 0.02, 0.1}) {
      const Committers group{{1 * scale, 4 * scale, 2.5 * scale}, slot};
      const std::array weights{3.0};
      GroupRates rates(weights, 1);
      EXPECT_NEAR(group.mean_rate(rates, 2, 6), 3 / (7.5 * scale), 0.02 * 3 / (7.5 * scale));
    }
}

TEST(GroupRates, FirstPacketsGetTheRateOfWhatTheyCommit) {
  const std::array weights{1.0};
  GroupRates one(weights, 1);
  EXPECT_FLOAT_EQ(one.rate(0, 0, {.dollars = 0.1, .budget = 5, .slot = 0.02}, kMemory, 1_s), 0.2F);
  GroupRates young(weights, 1);
  const Committers group{{2, 2, 2, 2}, 0.02};
  // The first slot has only the first flow's budget to go by.
  EXPECT_NEAR(group.mean_rate(young, 0.04, 0.2), 1 / 8.0, 0.15 / 8.0);
}

TEST(GroupRates, ShardsKnowEachOthersBudgets) {
  const std::array weights{1.0};
  GroupRates rates(weights, 2);
  const Committers group{{1, 1, 1, 1}, 0.01};
  EXPECT_NEAR(group.mean_rate(rates, 2, 6, 2), 1 / 4.0, 0.02 / 4.0);
}

TEST(GroupRates, AGroupThatWasIdleStartsAnew) {
  const std::array weights{1.0};
  GroupRates rates(weights, 1);
  (void)Committers{{1000}, 0.01}.mean_rate(rates, 0, 4);
  EXPECT_FLOAT_EQ(rates.rate(0, 0, {.dollars = 0.02, .budget = 2, .slot = 0.01}, kMemory, 60_s),
                  0.5F);
}

TEST(GroupRates, AnyClaimGivesARateWithinBounds) {
  std::mt19937 random(3);
  const std::array weights{1.0, 1e6};
  GroupRates rates(weights, 2);
  const auto odd = [&] {
    constexpr std::array kOdd{0.0, 1e-300, 1e300, -1.0, 1e12, 4e9, 1e-38};
    return kOdd[random() % kOdd.size()];
  };
  for (int64_t t = 0; t < 200000; t += static_cast<int64_t>(random() % 50)) {
    const float rate =
        rates.rate(random() % 2, random() % 4, {.dollars = odd(), .budget = odd(), .slot = odd()},
                   kMemory, Nanos(t * 100000));
    ASSERT_GE(rate, HeaderBatch::kMinRate);
    ASSERT_LE(rate, HeaderBatch::kMaxRate);
  }
}

// --- on a link: 100 Mbit/s, 20 ms
// ----------------------------------------------------------------

struct Member {
  unsigned group;
  double budget;
  double start = 0;  // s
};

constexpr double kSeconds = kInstrumented ? 2 : 4, kSpan = kInstrumented ? 0.5 : 1;

/// Rates of the members over the last `span` seconds of `seconds`, Mbit/s.
std::vector<double> share(const std::vector<Member>& members, std::span<const double> weights,
                          double seconds, double span) {
  ToyNetwork net({.preset = "turnpike"});
  net.set_link_param(kGroups, static_cast<double>(Groups::kLink));
  const size_t link = net.add_link(100_Mbps, 10_ms);
  net.set_groups(link, weights);
  for (const Member& m : members) {
    const size_t i = net.add_flow({link}, 10_ms, Budget(m.budget), from_seconds(m.start));
    net.set_group(i, m.group);
  }
  net.run_until(from_seconds(seconds - span));
  for (size_t i = 0; i < members.size(); ++i) (void)net.delivered_rate(i);
  net.run_until(from_seconds(seconds));
  std::vector<double> rates;
  for (size_t i = 0; i < members.size(); ++i) rates.push_back(net.delivered_rate(i).count() / 1e6);
  return rates;
}

TEST(GroupsAtALink, ShareByWeightWhateverTheirFlowsAndBudgets) {
  const std::array weights{1.0, 1.0, 2.0};
  for (const double inflation : {1.0, 50.0, 1e-6}) {
    if (kInstrumented && inflation != 50) continue;
    const auto r = share({{1, 1},
                          {2, inflation},
                          {2, inflation},
                          {2, inflation},
                          {2, 2 * inflation},
                          {2, 5 * inflation}},
                         weights, kSeconds, kSpan);
    const double first = r[0], second = r[1] + r[2] + r[3] + r[4] + r[5];
    EXPECT_NEAR(second / first, 2, 0.04) << inflation;
    EXPECT_GT(first + second, 97) << inflation;
    EXPECT_NEAR(r[4] / r[1], 2, 0.1) << inflation;
    EXPECT_NEAR(r[5] / r[2], 5, 0.2) << inflation;
  }
}

TEST(GroupsAtALink, JoiningFlowsTakeFromTheirOwnGroup) {
  const std::array weights{1.0, 1.0, 2.0};
  std::vector<Member> members{{1, 1}};
  for (int i = 0; i < 5; ++i) members.push_back({2, 1, 1 + 0.5 * i});
  for (const double at : {1.5, 2.0, 2.5, 3.0, 3.5}) {  // 15 to 25 round trips after each arrival
    if (kInstrumented && at != 2) continue;
    const auto r = share(members, weights, at, 0.2);
    double second = 0;
    for (size_t i = 1; i < r.size(); ++i) second += r[i];
    EXPECT_NEAR(second / r[0], 2, 0.1) << at;
  }
}

TEST(GroupsAtALink, AnIdleGroupsShareGoesToTheOthers) {
  const std::array weights{1.0, 1.0, 2.0, 100.0};
  const auto r = share({{1, 1}, {2, 1}}, weights, kSeconds, kSpan);
  EXPECT_NEAR(r[0] + r[1], 98.5, 1.5);
  EXPECT_NEAR(r[1] / r[0], 2, 0.04);
}

/// Shares of two honest groups with two flows each, Mbit/s, and the packets of theirs that the law
/// refused, beside 80 packets a second, a hundredth of the link's, with any values in group
/// `forged`.
std::array<double, 3> beside_forged_headers(unsigned forged, uint64_t seed) {
  constexpr std::array kOdd{0.0F,   -0.0F, 1.0F,  -1.0F,  1e-38F,   1e-45F,    1e12F, 3e38F,
                            1e-18F, 1e6F,  1e-9F, -1e20F, INFINITY, -INFINITY, NAN};
  ToyNetwork net({.preset = "turnpike"});
  net.set_link_param(kGroups, static_cast<double>(Groups::kLink));
  const size_t link = net.add_link(100_Mbps, 10_ms);
  const std::array weights{1.0, 1.0, 1.0};
  net.set_groups(link, weights);
  for (unsigned i = 0; i < 4; ++i)
    net.set_group(net.add_flow({link}, 10_ms, Budget(1), 0_s), 1 + i / 2);
  std::mt19937_64 random(seed);
  const auto odd = [&] { return kOdd[random() % kOdd.size()]; };
  constexpr Nanos kFrom = kInstrumented ? 1_s : 2_s, kEnd = kInstrumented ? 2_s : 5_s;
  for (Nanos t = 1_s; t < kEnd; t += 12'500_us)
    net.at(t, [&] {
      const Header header{.rtt_ns = random() % 4 == 0 ? 0U : 20'000'000U,
                          .price = 0,
                          .reserve = odd(),
                          .age_ns = static_cast<uint32_t>(random()),
                          .preload = odd(),
                          .balance = odd(),
                          .exchange = odd(),
                          .charged = odd(),
                          .slot = odd()};
      net.inject(link, header, 1500, random() % 4 == 0, static_cast<uint16_t>(forged));
    });
  net.run_until(kFrom);
  for (size_t i = 0; i < 4; ++i) (void)net.delivered_rate(i);
  net.run_until(kEnd);
  std::array<double, 3> found{0, 0, static_cast<double>(net.refused())};
  for (size_t i = 0; i < 4; ++i) found[i / 2] += net.delivered_rate(i).count() / 1e6;
  EXPECT_TRUE(std::isfinite(net.price(link)));
  return found;
}

// A forged header takes part of its own group's share: by its source address, that may be another
// tenant's. The bound is that of a link without groups (vandal_test.cpp).
TEST(GroupsAtALink, ForgedHeadersTakeLittleFromOtherGroups) {
  for (uint64_t seed = 1; seed <= (kInstrumented ? 1 : 3); ++seed) {
    const auto [first, second, refused] = beside_forged_headers(0, seed);
    EXPECT_GT(first, 45) << seed;
    EXPECT_GT(second, 45) << seed;
    EXPECT_EQ(refused, 0) << seed;
    const auto [spoofed, other, none] = beside_forged_headers(1, seed);
    EXPECT_GT(other, 45) << seed;
    EXPECT_EQ(none, 0) << seed << ", own group " << spoofed;
  }
}

TEST(GroupsAtALink, AThousandGroupsShareEqually) {
  std::vector<double> weights(1001, 1.0);
  std::mt19937 random(5);
  std::vector<Member> members;
  // As many groups as the link has packets a round trip: fewer flows each than a packet a trip.
  for (unsigned g = 1; g <= 100; ++g)
    members.push_back({g * 10, std::exp2(static_cast<double>(random() % 20))});
  const auto r = kInstrumented ? share(members, weights, 3, 1) : share(members, weights, 6, 2);
  for (const double rate : r) EXPECT_NEAR(rate, 1, 0.1);
}

}  // namespace
}  // namespace turnpike::fcp::group_rates_test
