// SPDX-License-Identifier: BSD-3-Clause
// The ring of bins against a list of all records.
#include "common/time/time_series.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"

namespace turnpike {
namespace {

struct Record {
  int64_t time;
  double value;
};

// The expected answer for `now` - `ago`, from the list of all changes.
template <size_t Bins, unsigned Shift>
void check(const std::vector<Record>& changes, const TimeSeries<Bins, Shift>& series, int64_t now,
           uint32_t ago) {
  const double got = series.at(Nanos(now), ago);
  unsigned ring = 0;
  while (ring < series.kRings && ago >= series.reach(ring)) ++ring;
  if (ring == series.kRings) {
    ASSERT_TRUE(std::isnan(got)) << "beyond the horizon: " << ago;
    return;
  }
  const int64_t bin = series.bin(ring).count(), own = (now - ago) / bin;
  const int64_t from = (own - 1) * bin, to = (own + 2) * bin;
  double highest = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < changes.size(); ++i) {
    const bool over_before = i + 1 < changes.size() && changes[i + 1].time < from;
    if (!over_before && changes[i].time < to) highest = std::fmax(highest, changes[i].value);
  }
  if (changes.front().time / bin > own) {
    ASSERT_TRUE(std::isnan(got) || changes.front().time < to) << "nothing to know";
  } else {
    ASSERT_EQ(static_cast<float>(got), static_cast<float>(highest)) << now << " - " << ago;
  }
}

template <size_t Bins, unsigned Shift>
void compare(uint64_t seed, double longest_gap) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  TimeSeries<Bins, Shift> series;
  std::vector<Record> changes;
  EXPECT_TRUE(std::isnan(series.at(Nanos(5), 0)));
  auto now = static_cast<int64_t>(random() % 1'000'000);
  double value = 1;
  for (int i = 0; i < 400; ++i) {
    const bool behind = i > 0 && random() % 10 == 0;  // a clock behind the last change
    if (!behind) now += static_cast<int64_t>(std::pow(longest_gap, unit(random))) - 1;
    const bool same = i > 0 && random() % 4 == 0;
    if (!same) value *= unit(random) < 0.5 && value > 1 ? 0.3 : 1.1;
    if (!same) changes.push_back({behind ? changes.back().time : now, value});
    series.record(Nanos(behind ? changes.back().time - 300 : now),
                  value * (same ? 1 + 0x1p-11 * unit(random) : 1));
    ASSERT_EQ(series.now(), value);
    std::array<uint32_t, 20> ago;
    for (unsigned k = 0; k < ago.size(); ++k) {
      const auto span = static_cast<double>(series.bin(k % series.kRings).count()) * (Bins + 2);
      ago[k] = static_cast<uint32_t>(
          std::min(span * unit(random) * unit(random), static_cast<double>(now)));
      ASSERT_NO_FATAL_FAILURE(check(changes, series, now, ago[k])) << "seed " << seed << ", " << i;
    }
    std::array<double, ago.size()> values;
    series.at(Nanos(now), ago, values.data());
    for (size_t k = 0; k < ago.size(); ++k) {
      const double alone = series.at(Nanos(now), ago[k]);
      ASSERT_TRUE(values[k] == alone || (std::isnan(values[k]) && std::isnan(alone)));
    }
    ASSERT_EQ(series.at(Nanos(now + 17 * series.bin(series.kRings - 1).count()), 0), value);
  }
}

TEST(TimeSeries, AnswersAsTheListOfAllChangesDoes) {
  for (uint64_t seed = 1; seed <= (kInstrumented ? 4 : 40); ++seed) {
    compare<4, 4>(seed, 100);
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
    ASSERT_NEAR(series.now() / value, 1, TimeSeries<>::kTolerance);
  }
  EXPECT_NEAR(series.now(), 1.105, 0.002);
}

TEST(TimeSeries, RemembersTwoSecondsByDefault) {
  TimeSeries<> series;
  for (int64_t ms = 0; ms <= 5000; ++ms)
    series.record(Nanos(ms * 1'000'000), static_cast<double>(ms));
  EXPECT_NEAR(series.at(5_s, 2'000'000'000), 3000, 3);
  EXPECT_TRUE(std::isnan(series.at(5_s, 3'000'000'000)));
}

TEST(TimeSeries, HoldsThroughGapsOfAnyLength) {
  TimeSeries<16, 10> series;
  series.record(1_us, 7);
  EXPECT_EQ(series.at(3600_s, 0), 7);
  EXPECT_EQ(series.at(3600_s, 3000), 7);
  series.record(3600_s, 8);
  EXPECT_EQ(series.at(3600_s, 0), 8);
  EXPECT_EQ(series.at(3600_s, 3000), 7);
  EXPECT_TRUE(std::isnan(series.at(3600_s, 1'000'000'000)));
}

// Packets 11 us apart may see prices eleven powers of ten apart.
TEST(TimeSeries, AnswersTheHighestAboutATime) {
  TimeSeries<> series;
  for (const auto& [us, value] : {Record{5000, 1e-18}, {10'300, 4e-8}, {10'311, 1e-18}})
    series.record(Nanos(us * 1000), value);
  for (const int64_t us : {10'290, 10'300, 10'310, 10'320, 10'340})
    EXPECT_EQ(series.at(20_ms, static_cast<uint32_t>(20'000'000 - us * 1000)), 4e-8F) << us;
  EXPECT_EQ(series.at(20_ms, 10'000'000), 1e-18F);
  EXPECT_EQ(series.at(20_ms, 9'000'000), 1e-18);
}

TEST(TimeSeries, KnowsNothingBeforeItsFirstRecord) {
  TimeSeries<16, 10> series;
  EXPECT_TRUE(std::isnan(series.at(10_us, 0)));
  series.record(5200_ns, 1);
  EXPECT_EQ(series.at(5200_ns, 0), 1);
  EXPECT_TRUE(std::isnan(series.at(6000_ns, 4000)));
}

}  // namespace
}  // namespace turnpike
