// SPDX-License-Identifier: BSD-3-Clause
// Random mixes of classes on a link against a plain model: the price that bisection finds for flows
// with constant budgets, and what every mix must keep.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/fcp/classes/common_price.h"
#include "common/protocols/fcp/protocol.h"
#include "common/units/instrumented.h"

namespace turnpike::fcp::class_oracle_test {
namespace {

constexpr double kCapacity = 12.5e6;   // B/s
constexpr uint32_t kRtt = 20'000'000;  // ns

// --- the solver ---------------------------------------------------------------------------------

/// Demand min(rate, budget / p).
struct Curve {
  double rate, budget;
};

Demand sum_near(const std::vector<Curve>& curves, double price) {
  Demand sum;
  for (const Curve& c : curves) {
    const bool elastic = c.budget < price * c.rate;
    sum.elastic += elastic ? c.budget : 0;
    sum.inelastic += elastic ? 0 : c.rate;
  }
  return sum;
}

TEST(CommonPrice, IsThatOfBisection) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Curve> curves(1 + random() % 40);
    for (Curve& c : curves)
      c = {std::exp(20 * uniform(random)), std::exp(20 * uniform(random) - 12)};
    double most = 0;
    for (const Curve& c : curves) most += c.rate;
    const double usable = most * uniform(random) * 1.2 + 1;
    const double start = std::exp(60 * uniform(random) - 40);
    const double slack = round % 2 == 0 ? 0 : most * uniform(random) * 0.2;
    const double price =
        common_price([&](double p) { return sum_near(curves, p); }, usable, slack, start);
    if (most <= usable + slack) {
      EXPECT_EQ(price, 0);
      continue;
    }
    double low = 1e-40, high = 1e40;
    for (int i = 0; i < 400; ++i) {
      const double middle = std::sqrt(low * high);
      double demand = 0;
      for (const Curve& c : curves) demand += std::min(c.rate, c.budget / middle);
      (demand > usable ? low : high) = middle;
    }
    const Demand there = sum_near(curves, high);
    const double expected = there.elastic / std::max(usable - there.inelastic, 0.01 * usable);
    EXPECT_NEAR(price / expected, 1, 1e-6) << round;
  }
}

// --- mixes --------------------------------------------------------------------------------------

struct Mix {
  std::vector<ClassRule> rules;
  std::vector<double> budget;  // $/s by class; of a legacy class its load, B/s

  [[nodiscard]] bool legacy(size_t c) const { return rules[c].policy == PricingPolicy::kLegacy; }
};

Mix random_mix(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Mix mix;
  const size_t classes = 2 + random() % (kMaxClasses - 1);
  for (size_t c = 0; c < classes; ++c) {
    ClassRule rule{.name = std::to_string(c)};
    const unsigned policy = c + 1 == classes ? 0 : static_cast<unsigned>(random() % 4);
    double amount = std::exp(3 * uniform(random) - 1.5);
    if (policy == 1) rule.policy = PricingPolicy::kStability;
    if (policy == 2) {
      rule.policy = PricingPolicy::kPriority;
      rule.factor = 1 + 20 * uniform(random);
    }
    if (policy == 3) {
      rule.policy = PricingPolicy::kLegacy;
      rule.share = 0.8 / static_cast<double>(classes) * uniform(random) + 0.01;
      amount = kCapacity * 0.3 * uniform(random);
    }
    mix.rules.push_back(rule);
    mix.budget.push_back(amount);
  }
  return mix;
}

/// The price at which constant budgets take what legacy traffic within its shares leaves.
double expected_price(const Mix& mix) {
  double budget = 0, left = kCapacity;
  for (size_t c = 0; c < mix.rules.size(); ++c) {
    if (mix.legacy(c)) {
      left -= std::min(mix.budget[c], mix.rules[c].share * kCapacity);
    } else {
      budget += mix.rules[c].policy == PricingPolicy::kPriority
                    ? mix.budget[c] / mix.rules[c].factor
                    : mix.budget[c];
    }
  }
  return budget / left;
}

class Mixes : public ::testing::TestWithParam<unsigned> {};  // by number of shards

// Flows spend their budgets at the price that they saw last. In steady state: work conservation
// (the priced classes' rates fill what legacy leaves), every class has its part (no starvation),
// one price by policy, and legacy load within its share off the capacity.
TEST_P(Mixes, ShareTheLinkAsBisectionDoes) {
  std::mt19937_64 random(GetParam());
  for (int round = 0; round < (kInstrumented ? 4 : 12); ++round) {
    const Mix mix = random_mix(random);
    const unsigned shards = GetParam();
    const auto law =
        make_classed_link(preset_values(kProtocol, true, "paper"), mix.rules, shards, 1);
    const size_t n = mix.rules.size();
    std::vector<double> price(n, 1e-7), rate(n, 0);
    Nanos now = 1_s, due = now;
    std::vector<LinkState> link(1);
    link[0] = {.capacity = kCapacity, .queue = 0, .buffer = 1e6};
    for (int i = 0; i < 2500; ++i) {
      for (size_t c = 0; c < n; ++c) {
        now += 1_ms / static_cast<int64_t>(n);
        if (now >= due) due = law->update(link[0], now);
        rate[c] = mix.legacy(c) ? mix.budget[c] : mix.budget[c] / price[c];
        std::array<uint8_t, kHeaderSize> header{};
        store({.rtt_ns = kRtt, .balance = static_cast<float>(price[c])}, header.data());
        LinkPacket p{.header = mix.legacy(c) ? nullptr : header.data(),
                     .size = static_cast<uint32_t>(std::clamp(rate[c] * 1e-3, 64.0, 200e3)),
                     .queue_class = static_cast<uint8_t>(c)};
        ASSERT_EQ(law->arrive(static_cast<unsigned>(random() % shards), {&p, 1}, link[0], now), 0U);
        if (mix.legacy(c)) continue;
        price[c] = load(header.data()).price;
        ASSERT_TRUE(std::isfinite(price[c]) && price[c] > 0) << price[c];
      }
    }
    const double expected = expected_price(mix);
    double total = 0, legacy = 0;
    for (size_t c = 0; c < n; ++c) {
      EXPECT_GT(law->weight(static_cast<unsigned>(c)), 0);
      if (mix.legacy(c)) {
        legacy += std::min(rate[c], mix.rules[c].share * kCapacity);
        continue;
      }
      const bool priority = mix.rules[c].policy == PricingPolicy::kPriority;
      EXPECT_NEAR(price[c] / expected, priority ? mix.rules[c].factor : 1,
                  (priority ? mix.rules[c].factor : 1) * 0.06)
          << "round " << round << " class " << c << " of " << n;
      total += rate[c];
    }
    EXPECT_NEAR(total, kCapacity - legacy, 0.06 * kCapacity) << round;
  }
}
// A flow that changes its DSCP with every packet, and pays each class's price, gets no more than
// one that stays; nor do the others get less.
TEST(ClassAttack, AFlowThatChangesItsClassGainsNothing) {
  const std::vector<ClassRule> rules{
      {.name = "calm", .policy = PricingPolicy::kStability},
      {.name = "gold", .policy = PricingPolicy::kPriority, .factor = 10},
      {.name = "urgent", .policy = PricingPolicy::kDeadline, .cap = kCapacity / 4, .price = 1e-18},
      {.name = "old", .policy = PricingPolicy::kLegacy, .share = 0.2},
      {.name = "rest"}};
  for (const char* preset : {"paper", "turnpike"}) {
    const auto law = make_classed_link(preset_values(kProtocol, true, preset), rules, 1, 1);
    const LinkState link{.capacity = kCapacity, .queue = 0, .buffer = 1e6};
    Nanos now = 1_s, due = now;
    std::array<double, 2> price{1e-7, 1e-7}, bytes{};  // of the honest flow and of the other one
    std::array<double, 5> last{1e-7, 1e-6, 1e-7, 1e-7, 1e-7};
    for (int i = 0; i < 6000; ++i) {
      for (unsigned flow = 0; flow < 2; ++flow) {
        now += 250_us;
        if (now >= due) due = law->update(link, now);
        constexpr std::array<unsigned, 4> kVisited{0, 1, 2, 4};
        const unsigned c = flow == 0 ? 4 : kVisited[static_cast<size_t>(i) % 4];
        const double pays = flow == 0 ? price[0] : last[c];
        const double rate = std::min(1 / pays, kCapacity);
        const auto size = static_cast<uint32_t>(std::clamp(rate * 500e-6, 64.0, 6e3));
        std::array<uint8_t, kHeaderSize> header{};
        store({.rtt_ns = kRtt,
               .reserve = static_cast<float>(1 / kCapacity),
               .balance = static_cast<float>(pays),
               .slot = 500e-6F},
              header.data());
        LinkPacket p{.header = header.data(), .size = size, .queue_class = static_cast<uint8_t>(c)};
        ASSERT_EQ(law->arrive(0, {&p, 1}, link, now), 0U);
        const double stamped = load(header.data()).price;
        ASSERT_TRUE(std::isfinite(stamped) && stamped > 0);
        (flow == 0 ? price[0] : last[c]) = stamped;
        if (i >= 3000) bytes[flow] += size;
      }
    }
    EXPECT_LE(bytes[1], bytes[0] * 1.05) << preset;
    EXPECT_GE(bytes[0] / 1.5, 0.9 * kCapacity / 2) << preset;
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, Mixes, ::testing::Values(1U, 2U));

}  // namespace
}  // namespace turnpike::fcp::class_oracle_test
