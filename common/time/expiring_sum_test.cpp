// SPDX-License-Identifier: BSD-3-Clause
// The wheel of sums against a list of every single contribution.
#include "common/time/expiring_sum.h"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

// Remembers every contribution. The wheel knows one only to the block of time that was its tick,
// the longest tick if it has seen several. So a contribution whose whole block is in the window
// must count fully, one whose whole block is out of the window or of the wheel must not count, and
// any other counts by some share: `sure` and `sure + maybe` are the bounds of the total.
template <size_t Slots>
class Oracle {
 public:
  void advance(Nanos now, Nanos window, Nanos tick) {
    now_ = std::max(now_, now.count());
    window_ = std::clamp(window.count(), ExpiringSum<1, Slots>::kMinWindow.count(),
                         ExpiringSum<1, Slots>::kMaxWindow.count());
    tick_ = tick.count();
    const int64_t horizon = (floor(now_, tick_) / tick_ - static_cast<int64_t>(Slots) + 1) * tick_;
    for (Packet& p : packets_) {
      p.block = std::max(p.block, tick_);
      p.whole = p.whole && p.begin() >= horizon;
    }
    std::erase_if(packets_, [&](const Packet& p) { return p.begin() + p.block <= horizon; });
  }
  void add(double v) { packets_.push_back({now_, tick_, v, true}); }

  void check(double total) const {
    double sure = 0, maybe = 0;
    for (const Packet& p : packets_) {
      const int64_t begin = p.begin(), last = begin + p.block - 1;
      if (last <= now_ - window_) continue;
      (p.whole && begin > now_ - window_ ? sure : maybe) += p.value;
    }
    const double rounding = 1e-12 * (sure + maybe);
    ASSERT_GE(total, sure - rounding);
    ASSERT_LE(total, sure + maybe + rounding);
    ASSERT_GE(total, 0);
    if (sure + maybe == 0) {
      ASSERT_EQ(total, 0);
    }
  }

 private:
  static int64_t floor(int64_t t, int64_t unit) { return t - ((t % unit) + unit) % unit; }
  struct Packet {
    int64_t time, block;
    double value;
    bool whole;  // no part of its block has ever been older than the wheel
    [[nodiscard]] int64_t begin() const { return floor(time, block); }
  };
  std::deque<Packet> packets_;
  int64_t now_ = -(int64_t{1} << 61), window_ = 1, tick_ = 1;
};

struct Schedule {
  double longest_gap;   // ns; gaps are log-uniform from 1 ns
  double window_moves;  // probability per step that the window starts to move elsewhere
  double least, most;   // windows, ns
  double idle;          // probability per step of a gap of up to four hours
  int decades;          // of the contributions' sizes
};

template <size_t Slots>
void compare(uint64_t seed, const Schedule& s, int steps) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto log_uniform = [&](double a, double b) { return a * std::pow(b / a, unit(random)); };
  ExpiringSum<2, Slots> sum;
  Oracle<Slots> oracle;
  auto now = static_cast<int64_t>(log_uniform(1, 1e18));
  double window = log_uniform(s.least, s.most), goal = window;
  for (int i = 0; i < steps; ++i) {
    if (unit(random) < 0.8) now += static_cast<int64_t>(log_uniform(1, s.longest_gap));
    if (unit(random) < s.idle) now += static_cast<int64_t>(log_uniform(1e9, 4 * 3600e9));
    if (unit(random) < s.window_moves) {
      goal = log_uniform(s.least, s.most);
      if (unit(random) < 0.3) window = goal;  // a jump; else it drifts
    }
    window += (goal - window) * 0.05;
    // Sometimes the caller's clock is behind.
    const Nanos given(unit(random) < 0.05 ? now - 1000 : now), d(static_cast<int64_t>(window));
    sum.advance(given, d);
    oracle.advance(given, d, sum.tick());
    ASSERT_NO_FATAL_FAILURE(oracle.check(sum.totals()[0])) << "seed " << seed << " step " << i;
    for (auto n = random() % 3; n > 0; --n) {
      const double v = 1e-6 * std::pow(10, -s.decades * unit(random));
      sum.add({v, 1});
      oracle.add(v);
    }
    ASSERT_NO_FATAL_FAILURE(oracle.check(sum.totals()[0])) << "seed " << seed << " step " << i;
  }
}

template <class Size>
class ExpiringSumOfSize : public testing::Test {};
using Sizes = testing::Types<std::integral_constant<size_t, 8>, std::integral_constant<size_t, 16>,
                             std::integral_constant<size_t, 64>>;
TYPED_TEST_SUITE(ExpiringSumOfSize, Sizes);

TYPED_TEST(ExpiringSumOfSize, MatchesEveryContribution) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const auto check = [&](const Schedule& s) {
      ASSERT_NO_FATAL_FAILURE(compare<TypeParam::value>(seed, s, 1500));
    };
    check({1e4, 0, 1e5, 1e6, 0, 0});         // fixed window
    check({1e3, 0.02, 1e3, 1e6, 0, 18});     // moving window, many packets
    check({1e5, 0.1, 1, 1e6, 0, 18});        // as short as the tick, mostly empty
    check({1e6, 0.05, 1e4, 1e9, 0.01, 12});  // gaps of hours
    check({30, 0.1, 1, 200, 0.001, 3});      // ticks of single nanoseconds
    check({1e6, 0.3, 1, 2e18, 0.05, 18});    // absurd windows
  }
}

TEST(ExpiringSum, ErrorInAgeIsFarBelowAWindowBy256) {
  // A steady stream: one unit every 10 ns, so the exact total is window / 10 ns. The tick is 64 to
  // 256 ns long; cutting whole ticks would be wrong by up to a whole tick.
  ExpiringSum<1> sum;
  for (int64_t now = 0; now < 1'000'000; now += 10) {
    const Nanos window(20'000 + now / 20);
    sum.advance(Nanos(now), window);
    sum.add({1});
    if (now < 200'000) continue;
    const double error_in_age = sum.totals()[0] * 10 - static_cast<double>(window.count());
    ASSERT_LE(std::abs(error_in_age), 21) << now;  // two packets
  }
}

TEST(ExpiringSum, LeavesWithinATickOfItsTime) {
  for (const int64_t window : {100'000, 1'000'000, 12'345'678, 100'000'000}) {
    for (int64_t start = 0; start < 3000; start += 77) {
      ExpiringSum<1> sum;
      sum.advance(Nanos(start), Nanos(window));
      sum.add({1});
      int64_t first = 0, last = 0;  // still whole, still there
      for (int64_t age = window - window / 100; age < window + window / 100; age += window / 8192) {
        sum.advance(Nanos(start + age), Nanos(window));
        if (sum.totals()[0] == 1) first = age;
        if (sum.totals()[0] > 0) last = age;
      }
      EXPECT_GE(first, window - window / 192 - window / 8192);
      EXPECT_LE(last, window + window / 192);
      EXPECT_LE(std::abs((first + last) / 2 - window), window / 384 + window / 8192);
    }
  }
}

TEST(ExpiringSum, BigContributionsLeaveNothingBehind) {
  ExpiringSum<2> sum;
  double after = 0;
  for (int64_t i = 0; i < 20'000; ++i) {
    sum.advance(Nanos(i * 1000), 1_ms);
    sum.add({i % 5000 == 0 ? 1e6 : 1e-18, 1e-18});
    if (i % 5000 > 1010) {
      after = sum.totals()[0];
      ASSERT_EQ(after, sum.totals()[1]) << i;
      ASSERT_NEAR(after, 1000e-18, 2e-18);
    }
  }
  EXPECT_GT(after, 0);
}

TEST(ExpiringSum, GrowingWindowBringsStoredContributionsBack) {
  ExpiringSum<1> sum;
  sum.advance(0_ns, 1_ms);
  sum.add({1});
  sum.advance(1100_us, 1_ms);
  EXPECT_EQ(sum.totals()[0], 0);
  sum.advance(1100_us, Nanos(1'130'000));
  EXPECT_EQ(sum.totals()[0], 1);
  sum.advance(1100_us, 1_ms);
  EXPECT_EQ(sum.totals()[0], 0);
}

TEST(ExpiringSum, UnbelievableContributionHealsWithTheWindow) {
  ExpiringSum<1> sum;
  for (int64_t i = 0; i < 3000; ++i) {
    sum.advance(Nanos(i * 1000), 1_ms);
    sum.add({i == 100 ? std::nan("") : 1.0});
    if (i > 1110) {
      ASSERT_NEAR(sum.totals()[0], 1000, 1.5) << i;
    }
  }
}

TEST(ExpiringSum, SignedContributionsCancel) {
  ExpiringSum<1> sum;
  for (int64_t i = 0; i < 100'000; ++i) {
    sum.advance(Nanos(i * 1000), Nanos(1'000'000 + 300'000 * (i / 7000 % 2)));
    sum.add({i % 2 == 0 ? 3e-7 : -3e-7});
    ASSERT_LE(std::abs(sum.totals()[0]), 3.1e-7);
  }
}

TEST(ExpiringSum, StateFitsInSecondLevelCache) {
  static_assert(alignof(ExpiringSum<4>) == 64);
  static_assert(ExpiringSum<4>::state_bytes() <= 512 * 32 + 256);
  RecordProperty("state_bytes_4_fields", static_cast<int>(ExpiringSum<4>::state_bytes()));
}

}  // namespace
}  // namespace turnpike
