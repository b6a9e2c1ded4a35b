// SPDX-License-Identifier: BSD-3-Clause
// The ring of bins against a list of all records.
#include "common/time/time_series.h"

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

struct Record {
  int64_t time;
  double value;
};

// What a series must answer for `t`, by the list of all changes.
template <size_t Bins, unsigned Shift>
void check(const std::vector<Record>& changes, const TimeSeries<Bins, Shift>& series, int64_t t) {
  const auto got = series.at(Nanos(t));
  auto right = changes.rbegin();
  while (right != changes.rend() && right->time > t) ++right;
  unsigned ring = 0;
  const auto ago = [&] {
    const int64_t bin = series.bin(ring).count();
    return changes.back().time / bin - t / bin;
  };
  while (ring < series.kRings && ago() >= static_cast<int64_t>(Bins) - 1) ++ring;
  if (ring == series.kRings) {
    ASSERT_TRUE(std::isnan(got)) << "beyond the horizon: " << t;
    return;
  }
  const int64_t bin = series.bin(ring).count();
  if (right != changes.rbegin() && (right - 1)->time / bin == t / bin)
    while (right != changes.rend() && right->time >= t / bin * bin) ++right;
  if (right == changes.rend()) {
    ASSERT_TRUE(std::isnan(got)) << "nothing to know at " << t;
    return;
  }
  ASSERT_EQ(got, right == changes.rbegin() ? right->value : static_cast<float>(right->value)) << t;
}

template <size_t Bins, unsigned Shift>
void compare(uint64_t seed, double longest_gap) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  TimeSeries<Bins, Shift> series;
  std::vector<Record> changes;
  EXPECT_TRUE(std::isnan(series.at(Nanos(5))));
  auto now = static_cast<int64_t>(random() % 1'000'000);
  double value = 1;
  for (int i = 0; i < 400; ++i) {
    const bool behind = i > 0 && random() % 10 == 0;  // such a caller counts as at the last change
    if (!behind) now += static_cast<int64_t>(std::pow(longest_gap, unit(random))) - 1;
    const bool same = i > 0 && random() % 4 == 0;
    if (!same) value = value > 1e6 ? 1 : value * 1.1;
    if (!same) changes.push_back({behind ? changes.back().time : now, value});
    series.record(Nanos(behind ? changes.back().time - 300 : now),
                  value * (same ? 1 + 0x1p-11 * unit(random) : 1));
    const auto coarsest = series.kRings - 1;
    for (unsigned k = 0; k < 20; ++k) {
      const auto span = static_cast<double>(series.bin(k % series.kRings).count()) * (Bins + 2);
      const int64_t t = now - static_cast<int64_t>(span * unit(random) * unit(random));
      if (t < 0) continue;
      ASSERT_NO_FATAL_FAILURE(check(changes, series, t)) << "seed " << seed << " step " << i;
    }
    std::array<uint32_t, 5> ago;  // of one ring, or of several
    const auto scale = static_cast<uint32_t>(series.bin(random() % series.kRings).count() * Bins);
    for (uint32_t& ns : ago) ns = static_cast<uint32_t>(random()) % (2 * scale);
    std::array<double, ago.size()> values;
    series.at(Nanos(now), ago, values.data());
    for (size_t k = 0; k < ago.size(); ++k) {
      const double alone = series.at(Nanos(now) - Nanos(ago[k]));
      ASSERT_TRUE(values[k] == alone || (std::isnan(values[k]) && std::isnan(alone)));
    }
    const int64_t later = now + 17 * series.bin(coarsest).count();
    ASSERT_EQ(series.at(Nanos(later)), value);
    ASSERT_EQ(series.at(kNever), value);
  }
}

TEST(TimeSeries, AnswersAsTheListOfAllChangesDoes) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    compare<2, 4>(seed, 100);
    compare<8, 0>(seed, 20);
    compare<8, 6>(seed, 300);
    compare<16, 5>(seed, 1e9);
    compare<64, 10>(seed, 1e4);
    compare<64, 2>(seed, 1e6);
  }
}

TEST(TimeSeries, AThousandthIsNoChangeHoweverOftenItComes) {
  TimeSeries<16> series;
  double value = 1;
  for (int64_t us = 0; us < 1000; ++us, value *= 1.0001) {
    series.record(Nanos(us * 1000), value);
    const auto now = series.at(Nanos(us * 1000));
    ASSERT_NEAR(now / value, 1, TimeSeries<>::kTolerance);
  }
  EXPECT_NEAR(series.at(999_us), 1.105, 0.002);
}

TEST(TimeSeries, RemembersTwoSecondsByDefault) {
  TimeSeries<> series;
  for (int64_t ms = 0; ms <= 5000; ++ms)
    series.record(Nanos(ms * 1'000'000), static_cast<double>(ms));
  EXPECT_NEAR(series.at(5_s - 2_s), 3000, 2);
  EXPECT_TRUE(std::isnan(series.at(5_s - 3_s)));
}

TEST(TimeSeries, HoldsThroughGapsOfAnyLength) {
  TimeSeries<16, 10> series;
  series.record(1_us, 7);
  EXPECT_EQ(series.at(3600_s), 7);
  series.record(3600_s, 8);
  EXPECT_EQ(series.at(Nanos(3'600'000'000'000 - 1)), 7);
  EXPECT_EQ(series.at(3600_s), 8);
  EXPECT_TRUE(std::isnan(series.at(3599_s)));
  EXPECT_TRUE(std::isnan(series.at(1_us)));
}

TEST(TimeSeries, KnowsNothingBeforeItsFirstRecord) {
  TimeSeries<16, 10> series;
  EXPECT_TRUE(std::isnan(series.at(kNever)));
  series.record(5000_ns, 1);
  EXPECT_TRUE(std::isnan(series.at(4999_ns)));
  EXPECT_TRUE(std::isnan(series.at(0_ns)));
  EXPECT_EQ(series.at(5000_ns), 1);
}

}  // namespace
}  // namespace turnpike
