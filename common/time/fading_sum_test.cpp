// SPDX-License-Identifier: BSD-3-Clause
// Against a list of all contributions, with wheels so small that they turn often.
#include "common/time/fading_sum.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

struct Exact {
  struct Entry {
    double value;
    int64_t at, hold, fade;
  };
  std::vector<Entry> entries = {};
  [[nodiscard]] double total(int64_t now) const {
    double sum = 0;
    for (const Entry& e : entries) {
      const auto faded = static_cast<double>(now - e.at - e.hold) / static_cast<double>(e.fade);
      sum += e.value * std::clamp(1 - faded, 0.0, 1.0);
    }
    return sum;
  }
};

TEST(FadingSum, HoldsThenFadesEvenly) {
  FadingSum<> sum;
  constexpr Nanos kFade = 100_ms;
  sum.advance(1_s, kFade);
  sum.add(8, 50_ms);
  const auto after = [&](Nanos t) {
    sum.advance(1_s + t, kFade);
    return sum.total();
  };
  EXPECT_DOUBLE_EQ(after(0_ms), 8);
  EXPECT_DOUBLE_EQ(after(49_ms), 8);
  EXPECT_NEAR(after(100_ms), 4, 0.07);
  EXPECT_NEAR(after(125_ms), 2, 0.07);
  EXPECT_EQ(after(152_ms), 0);
}

TEST(FadingSum, NothingIsLeftOfMuchLargerContributions) {
  FadingSum<> sum;
  const auto add = [&sum](int ms, double value) {
    sum.advance(Nanos(int64_t{1'000'000} * ms), 100_ms);
    sum.add(value, 50_ms);
  };
  for (int ms = 0; ms < 1000; ++ms) add(ms, 1e12 * (1 + ms % 3));
  // A plain running sum keeps a residue of 1e-2 here, 1e8 times the sums to be measured.
  for (int ms = 1000; ms < 3000; ++ms) add(ms, 1e-12);
  EXPECT_NEAR(sum.total() / 1e-10, 1, 0.02);  // 50 ms in full and 100 ms at half, one per ms
  sum.advance(3500_ms, 100_ms);
  EXPECT_EQ(sum.total(), 0);
}

TEST(FadingSum, AgreesWithAListWhateverComes) {
  std::mt19937_64 random(1);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  for (int run = 0; run < 200; ++run) {
    FadingSum<64> sum;
    Exact exact;
    int64_t now = 0;
    constexpr int64_t kFade = 1'000'000;
    for (int i = 0; i < 300; ++i) {
      now += below(10) == 0 ? below(3'000'000) : below(300'000);
      sum.advance(Nanos(now), Nanos(kFade));
      const auto value = static_cast<double>(below(200) - 100);
      const int64_t hold = below(1'000'000);
      sum.add(value, Nanos(hold));
      exact.entries.push_back({value, now, hold, kFade});
      // A tick is at most 1/8 of the fading time here; some 14 contributions of 50 overlap.
      ASSERT_NEAR(sum.total(), exact.total(now), 50 * 14 / 8.0) << "run " << run << " step " << i;
    }
    sum.advance(Nanos(now + 3'000'000), Nanos(kFade));
    ASSERT_EQ(sum.total(), 0);
  }
}

TEST(FadingSum, FollowsAFadingTimeThatMoves) {
  FadingSum<> sum;
  Exact exact;
  int64_t now = 0;
  for (int i = 0; i < 2000; ++i) {
    now += 100'000;
    const int64_t fade = i / 500 % 2 == 0 ? 20'000'000 : 80'000'000;
    sum.advance(Nanos(now), Nanos(fade));
    sum.add(1, Nanos(10'000'000));
    exact.entries.push_back({1, now, 10'000'000, fade});
    const double right = exact.total(now);
    ASSERT_NEAR(sum.total(), right, 0.03 * right + 1) << i;
  }
}

}  // namespace
}  // namespace turnpike
