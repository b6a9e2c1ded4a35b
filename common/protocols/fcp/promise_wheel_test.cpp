// SPDX-License-Identifier: BSD-3-Clause
// The wheel against a linear search of a list of promises.
#include "common/protocols/fcp/promise_wheel.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike::fcp::promise_wheel_test {
namespace {

void go(PromiseWheel& wheel, Nanos now, Nanos span) {
  wheel.advance(now, span, [](size_t) {});
}

void add(PromiseWheel& wheel, const Promise& p, Nanos life) { wheel.add(p, wheel.expiry(life)); }

TEST(PromiseWheel, PromiseLivesForItsLifeToWithinATick) {
  PromiseWheel wheel;
  const Nanos span = 100_ms;
  go(wheel, 1_s, span);
  add(wheel, {.bucket = 5, .rate = 1e6F, .budget = 2, .rtt_rate = 1e6F, .rtt_sum = 1e5F}, 30_ms);
  EXPECT_EQ(wheel.sums().rate[5], 1e6);
  EXPECT_EQ(wheel.sums().budget[5], 2);
  EXPECT_NEAR(wheel.sums().rtt_sum / wheel.sums().rtt_rate, 0.1, 1e-6);
  EXPECT_LE(wheel.resolution(), span / 64);
  EXPECT_GE(wheel.resolution() * 128, span);
  go(wheel, 1_s + 30_ms - wheel.resolution() * 2, span);
  EXPECT_EQ(wheel.sums().rate[5], 1e6);
  size_t changed = 0;
  wheel.advance(1_s + 30_ms + wheel.resolution(), span, [&](size_t bucket) { changed = bucket; });
  EXPECT_EQ(changed, 5U);
  EXPECT_EQ(wheel.sums().rate[5], 0);
  EXPECT_EQ(wheel.sums().budget[5], 0);
  EXPECT_EQ(wheel.sums().rtt_rate, 0);
}

TEST(PromiseWheel, ShortLivesLastATickAndLongOnesAreCut) {
  PromiseWheel wheel;
  go(wheel, 1_s, 100_ms);
  add(wheel, {.bucket = 1, .rate = 1}, 0_ns);
  add(wheel, {.bucket = 2, .rate = 1}, 3600_s);
  EXPECT_EQ(wheel.sums().rate[1], 1);
  go(wheel, 1_s + wheel.resolution() * 2, 100_ms);
  EXPECT_EQ(wheel.sums().rate[1], 0);
  go(wheel, 1_s + 200_ms - wheel.resolution() * 2, 100_ms);
  EXPECT_EQ(wheel.sums().rate[2], 1) << "two spans at least";
  go(wheel, 1_s + 500_ms, 100_ms);
  EXPECT_EQ(wheel.sums().rate[2], 0);
}

TEST(PromiseWheel, AgreesWithAListWhateverTheSpanDoes) {
  std::mt19937_64 random(3);
  const auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  struct Alive {
    Nanos until;
    Promise promise;
  };
  constexpr double kSlotRounding = 200;  // B/s; slots are binary32 and hold up to 1e9
  PromiseWheel wheel;
  std::vector<Alive> all;
  Nanos now = 1_s, span = 50_ms, coarsest = 0_ns;
  for (int step = 0; step < 20'000; ++step) {
    now += from_seconds(uniform(0, 400e-6));
    if (step % 1000 == 999) span = from_seconds(uniform(8e-3, 100e-3));
    go(wheel, now, span);
    coarsest = std::max(coarsest, wheel.resolution());
    const auto rate = static_cast<float>(std::exp(uniform(0, 20)));
    const Promise p{
        .bucket = static_cast<size_t>(uniform(0, 64)), .rate = rate, .budget = rate * 1e-7F};
    const Nanos life = from_seconds(uniform(1e-3, 0.3) * to_seconds(span));
    add(wheel, p, life);
    all.push_back({now + life, p});
    if (step % 50 != 0) continue;
    // A promise may expire one tick early or late, and again whenever the tick's length changes.
    std::array<double, Knees::kBuckets> least{}, most{};
    for (const Alive& a : all) {
      if (a.until - coarsest * 4 > now) least[a.promise.bucket] += double{a.promise.rate};
      if (a.until + coarsest * 4 >= now) most[a.promise.bucket] += double{a.promise.rate};
    }
    for (size_t b = 0; b < Knees::kBuckets; ++b) {
      ASSERT_GE(wheel.sums().rate[b], least[b] * (1 - 1e-5) - kSlotRounding) << b << " at " << step;
      ASSERT_LE(wheel.sums().rate[b], most[b] * (1 + 1e-5) + kSlotRounding) << b << " at " << step;
    }
    std::erase_if(all, [&](const Alive& a) { return a.until + coarsest * 8 < now; });
  }
  go(wheel, now + 10_s, span);
  for (size_t b = 0; b < Knees::kBuckets; ++b) {
    EXPECT_EQ(wheel.sums().rate[b], 0) << "exactly";
    EXPECT_EQ(wheel.sums().budget[b], 0);
  }
}

}  // namespace
}  // namespace turnpike::fcp::promise_wheel_test
