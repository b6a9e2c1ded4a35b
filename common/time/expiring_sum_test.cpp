// SPDX-License-Identifier: BSD-3-Clause
// The queue of buckets against a list of all contributions.
#include "common/time/expiring_sum.h"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

class NaiveSum {
 public:
  void advance(Nanos now, Nanos window) {
    now_ = std::max(now_, now.count());
    begin_ = std::max(begin_, now_ - window.count());
    while (!packets_.empty() && packets_.front().time <= begin_) {
      packets_.pop_front();
      whole_ = false;
    }
    while (!peaks_.empty() && peaks_.front().time < begin_) peaks_.pop_front();
  }
  void add(double v) {
    packets_.push_back({now_, v});
    peaks_.push_back({now_, total()});
  }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const Packet& p : packets_) sum += p.value;
    return sum;
  }
  // The largest total at the arrival of any contribution in the window.
  [[nodiscard]] double peak() const {
    double most = 0;
    for (const Packet& p : peaks_) most = std::max(most, p.value);
    return most;
  }
  [[nodiscard]] bool whole() const { return whole_; }  // nothing has expired yet
  [[nodiscard]] bool empty() const { return packets_.empty(); }

 private:
  struct Packet {
    int64_t time;
    double value;
  };
  std::deque<Packet> packets_;
  std::deque<Packet> peaks_;
  int64_t now_ = -(int64_t{1} << 61), begin_ = 2 * now_;
  bool whole_ = true;
};

struct Schedule {
  double longest_gap;   // ns; gaps are log-uniform from 1 ns
  double window_moves;  // probability per step that the window starts to move elsewhere
  double least, most;   // windows, ns
  double idle;          // probability per step of a gap of up to four hours
  int decades;          // of the contributions' sizes
};

// Calls check(oracle, total) after every step.
template <size_t Buckets, class Check>
void compare(uint64_t seed, const Schedule& s, int steps, const Check& check) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto log_uniform = [&](double a, double b) { return a * std::pow(b / a, unit(random)); };
  ExpiringSum<2, Buckets> sum;
  NaiveSum oracle;
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
    // Sometimes the caller's clock goes back.
    const Nanos given(unit(random) < 0.05 ? now - 1000 : now), d(static_cast<int64_t>(window));
    sum.advance(given, d);
    oracle.advance(given, d);
    ASSERT_NO_FATAL_FAILURE(check(oracle, sum.totals()[0])) << "seed " << seed << " step " << i;
    for (auto n = random() % 3; n > 0; --n) {
      const double v = 1e-6 * std::pow(10, -s.decades * unit(random));
      sum.add({v, 1});
      oracle.add(v);
    }
    ASSERT_NO_FATAL_FAILURE(check(oracle, sum.totals()[0])) << "seed " << seed << " step " << i;
  }
}

template <class Size>
class ExpiringSumOfSize : public ::testing::Test {};
using Sizes =
    ::testing::Types<std::integral_constant<size_t, 256>, std::integral_constant<size_t, 512>,
                     std::integral_constant<size_t, 1024>>;
TYPED_TEST_SUITE(ExpiringSumOfSize, Sizes);

TYPED_TEST(ExpiringSumOfSize, IsNeverWrongByMoreThanABucket) {
  constexpr double kPart = 4.0 / static_cast<double>(TypeParam::value);
  const auto check = [](const NaiveSum& oracle, double total) {
    const double exact = oracle.total();
    ASSERT_LE(std::abs(total - exact), kPart * oracle.peak() + 1e-12 * exact);
  };
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const auto play = [&](const Schedule& s) {
      ASSERT_NO_FATAL_FAILURE(compare<TypeParam::value>(seed, s, 1500, check));
    };
    play({1e4, 0, 1e5, 1e6, 0, 0});        // fixed window
    play({1e3, 0.02, 1e3, 1e6, 0, 18});    // moving window, many packets
    play({1e5, 0.1, 1, 1e6, 0, 18});       // mostly empty
    play({1e6, 0.05, 1e4, 1e9, 0.01, 6});  // gaps of hours
    play({30, 0.1, 1, 200, 0.001, 3});     // windows of single nanoseconds
  }
}

// With more large contributions than buckets, only these two properties hold.
TEST(ExpiringSum, WithTooFewBucketsIsExactWhileAllIsInAndWhenAllIsOut) {
  int whole = 0, empty = 0;
  const auto check = [&](const NaiveSum& oracle, double total) {
    ASSERT_GE(total, 0);
    if (oracle.whole()) {
      ASSERT_NEAR(total, oracle.total(), 1e-12 * oracle.total());
      ++whole;
    }
    if (oracle.empty()) {
      ASSERT_EQ(total, 0);
      ++empty;
    }
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    compare<8>(seed, {1e6, 0.3, 1, 1e18, 0.05, 18}, 1000, check);
    compare<16>(seed, {1e4, 0.05, 1e5, 1e9, 0.002, 18}, 1000, check);
  }
  EXPECT_GT(whole, 1000);
  EXPECT_GT(empty, 1000);
}

TEST(ExpiringSum, FollowsWhatGrowsByMoreThanItHasBucketsFor) {
  // Each packet larger by a thousandth: more buckets than there are within the window of 10,000.
  ExpiringSum<1> sum;
  double worst = 0;
  const auto value = [](int64_t i) { return std::exp(1e-3 * static_cast<double>(i)); };
  for (int64_t i = 0; i < 40'000; ++i) {
    sum.advance(Nanos(i * 1000), 10_ms);
    sum.add({value(i)});
    if (i < 10'000) continue;
    const double exact = (value(i + 1) - value(i - 9999)) / (value(1) - 1);
    worst = std::max(worst, std::abs(sum.totals()[0] / exact - 1));
  }
  EXPECT_LE(worst, 1e-3);
}

TEST(ExpiringSum, ALargeContributionLeavesAtItsMoment) {
  for (const int64_t window : {100'000, 12'345'000, 100'000'000}) {
    ExpiringSum<1> sum;
    for (int64_t i = 0; i < 4000; ++i) {
      const int64_t now = i * window / 1000;
      sum.advance(Nanos(now), Nanos(window));
      sum.add({i % 1500 == 700 ? 1e13 : 1e-12});
      const bool inside = i % 1500 >= 700 || (i >= 1500 && i % 1500 < 200);
      if (inside) {
        ASSERT_NEAR(sum.totals()[0], 1e13, 1);
      } else {
        ASSERT_LE(sum.totals()[0], 1.01e-9);  // nothing is left of the large one
        ASSERT_GE(sum.totals()[0], 0.99e-12 * static_cast<double>(std::min<int64_t>(i + 1, 799)));
      }
    }
  }
}

TEST(ExpiringSum, ErrorInAgeIsFarBelowAWindowBy256) {
  // A steady stream: one unit every 10 ns, so the exact total is window / 10 ns.
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

TEST(ExpiringSum, WhatHasLeftDoesNotComeBack) {
  ExpiringSum<1> sum;
  sum.advance(0_ns, 1_ms);
  sum.add({1});
  sum.advance(900_us, 1_ms);
  sum.add({2});
  sum.advance(1100_us, 1_ms);
  EXPECT_EQ(sum.totals()[0], 2);
  sum.advance(1200_us, 5_ms);
  EXPECT_EQ(sum.totals()[0], 2);
  sum.advance(3_ms, 5_ms);
  EXPECT_EQ(sum.totals()[0], 2);
  sum.advance(3_ms, 2_ms);
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
  static_assert(ExpiringSum<4>::state_bytes() <= 1024 * 48 + 256);
  RecordProperty("state_bytes_4_fields", static_cast<int>(ExpiringSum<4>::state_bytes()));
}

}  // namespace
}  // namespace turnpike
