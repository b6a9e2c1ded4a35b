// SPDX-License-Identifier: BSD-3-Clause
// The clearing price against bisection over the same curves.
#include "common/protocols/fcp/clearing_price.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"

namespace turnpike::fcp::clearing_price_test {
namespace {

using Curves = std::array<double, Knees::kBuckets>;

double demand(const Curves& rate, const Curves& budget, double price) {
  double sum = rate[Knees::kInelastic];
  for (size_t b = 0; b < Knees::kInelastic; ++b) sum += std::min(rate[b], budget[b] / price);
  return sum;
}

// By the definition; 0 if demand is below capacity at any price.
double bisect(const Curves& rate, const Curves& budget, double capacity) {
  if (demand(rate, budget, 1e-30) <= capacity) return 0;
  double low = 1e-30, high = 1e30;
  for (int i = 0; i < 400; ++i) {
    const double middle = std::sqrt(low * high);
    (demand(rate, budget, middle) > capacity ? low : high) = middle;
  }
  return high;
}

TEST(ClearingPrice, OneElasticFlowPaysBudgetByCapacity) {
  ClearingPrice c;
  const double knee = 1e-8;
  c.add(Knees::bucket_of(knee), 1e8, 1e8 * knee);  // 1 $/s, wants 100 MB/s
  EXPECT_NEAR(c.price(12.5e6) * 12.5e6, 1, 1e-12);
  EXPECT_NEAR(c.demand(c.price(12.5e6)), 12.5e6, 1);
}

TEST(ClearingPrice, InelasticDemandBelowCapacityIsFree) {
  ClearingPrice c;
  c.add(Knees::bucket_of(1e-6), 5e6, 5);
  EXPECT_EQ(c.price(12.5e6), 0);
  EXPECT_EQ(c.demand(0), 5e6);
  // A long flow gets the capacity that the short ones leave.
  c.add(Knees::bucket_of(1e-9), 1e9, 1);
  EXPECT_NEAR(c.price(12.5e6) * 7.5e6, 1, 1e-12);
}

TEST(ClearingPrice, ALittleMoreThanTheCapacityIsFree) {
  ClearingPrice c;
  c.add(Knees::bucket_of(1e-6), 12.6e6, 12.6);
  EXPECT_GE(c.price(12.5e6, 0.05e6), 1e-6);
  EXPECT_EQ(c.price(12.5e6, 0.1e6), 0);
  EXPECT_EQ(c.demand(0), 12.6e6);
  EXPECT_GE(c.price(12.5e6, 0.05e6), 1e-6) << "again";
}

TEST(ClearingPrice, OverloadStopsAtTheKnees) {
  ClearingPrice c;
  // 30 flows of 1 $/s that want 1 MB/s each, 12.5 MB/s for them: each gets a thirtieth.
  c.add(Knees::bucket_of(1e-6), 30e6, 30);
  EXPECT_NEAR(c.price(12.5e6) * 12.5e6, 30, 1e-9);
  c.add(Knees::kInelastic, 20e6, 0);
  EXPECT_NEAR(c.price(12.5e6) * 0.125e6, 30, 1e-9) << "a hundredth is left";
}

TEST(ClearingPrice, AgreesWithBisection) {
  std::mt19937_64 random(5);
  const auto log_uniform = [&](double a, double b) {
    return std::exp(std::uniform_real_distribution<double>(std::log(a), std::log(b))(random));
  };
  ClearingPrice c;
  Curves rate{}, budget{};
  for (int step = 0; step < (kInstrumented ? 2'000 : 20'000); ++step) {
    const auto b = 15 + random() % 40;  // knees of 1e-14 to 1e-2 $/B
    if (random() % 3 == 0) {
      c.add(b, -rate[b], -budget[b]);
      rate[b] = budget[b] = 0;
    } else {
      const double more = log_uniform(1e3, 1e8);
      const double knee = std::exp2(static_cast<double>(b) + Knees::kLowestOctave + 0.5);
      c.add(b, more, more * knee);
      rate[b] += more;
      budget[b] += more * knee;
    }
    if (step % 64 == 0) c.reset(rate, budget);
    const double capacity = log_uniform(1e5, 1e9);
    const double expected = bisect(rate, budget, capacity), found = c.price(capacity);
    double inelastic = rate[Knees::kInelastic];
    for (size_t k = 0; k < Knees::kInelastic; ++k)
      if (rate[k] * expected < budget[k]) inelastic += rate[k];
    if (capacity - inelastic < 0.01 * capacity) continue;  // elastic demand gets the minimum
    if (expected == 0) {
      // Rounding may leave a little of the elastic sums.
      ASSERT_LE(found, 1e-9 * std::exp2(10)) << step;
    } else {
      ASSERT_NEAR(found / expected, 1, 1e-6) << step;
    }
  }
}

}  // namespace
}  // namespace turnpike::fcp::clearing_price_test
