// SPDX-License-Identifier: BSD-3-Clause
// The ring of bins against a list of all records.
#include "common/time/time_series.h"

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

// The answers that the contract of at() allows for `t`, by the list of all records.
template <size_t Bins>
void check(const std::vector<Record>& records, const TimeSeries<Bins>& series, int64_t t) {
  const int64_t bin = series.bin().count();
  const auto got = series.at(Nanos(t));
  const int64_t oldest = (records.back().time / bin - static_cast<int64_t>(Bins) + 1) * bin;
  auto right = records.rbegin();
  while (right != records.rend() && right->time > t) ++right;
  if (right == records.rend() || t < oldest) {
    ASSERT_FALSE(got) << "nothing to know at " << t;
    return;
  }
  // A later record of the same bin hides the right one: then the last of an earlier bin answers.
  const bool hidden = right != records.rbegin() && (right - 1)->time / bin == t / bin;
  if (!hidden) {
    ASSERT_TRUE(got) << t;
    ASSERT_EQ(*got, right->value) << t;
    return;
  }
  const int64_t begin = t / bin * bin;
  auto earlier = right;
  while (earlier != records.rend() && earlier->time >= begin) ++earlier;
  if (earlier == records.rend() || begin == oldest) {
    ASSERT_FALSE(got) << t;
  } else {
    ASSERT_TRUE(got) << t;
    ASSERT_EQ(*got, earlier->value) << t;
  }
}

template <size_t Bins>
void compare(uint64_t seed, unsigned shift, double longest_gap) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  TimeSeries<Bins> series(shift);
  std::vector<Record> records;
  EXPECT_FALSE(series.at(Nanos(5)));
  auto now = static_cast<int64_t>(random() % 1'000'000);
  for (int i = 0; i < 400; ++i) {
    const bool behind = i > 0 && random() % 10 == 0;  // such a caller counts as at the last record
    if (!behind) now += static_cast<int64_t>(std::pow(longest_gap, unit(random))) - 1;
    records.push_back({now, static_cast<double>(i)});
    series.record(Nanos(behind ? now - 300 : now), i);
    const auto span = static_cast<double>(series.bin().count()) * (Bins + 2);
    for (int k = 0; k < 20; ++k) {
      const int64_t t = now - static_cast<int64_t>(span * unit(random) * unit(random));
      if (t < 0) continue;
      ASSERT_NO_FATAL_FAILURE(check(records, series, t)) << "seed " << seed << " step " << i;
    }
    ASSERT_EQ(series.at(Nanos(now + 12345)), i);
    ASSERT_EQ(series.at(kNever), i);
  }
}

TEST(TimeSeries, AnswersAsTheListOfAllRecordsDoes) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    compare<2>(seed, 4, 100);
    compare<8>(seed, 0, 20);
    compare<8>(seed, 6, 300);
    compare<16>(seed, 5, 1e9);
    compare<64>(seed, 10, 1e4);
  }
}

TEST(TimeSeries, RemembersTwoSecondsByDefault) {
  TimeSeries<> series;
  for (int64_t ms = 0; ms <= 5000; ++ms)
    series.record(Nanos(ms * 1'000'000), static_cast<double>(ms));
  const auto then = series.at(5_s - 2_s);
  ASSERT_TRUE(then);
  EXPECT_NEAR(*then, 3000, 2);
  EXPECT_FALSE(series.at(5_s - 3_s));
}

TEST(TimeSeries, HoldsThroughGapsOfAnyLength) {
  TimeSeries<16> series(10);
  series.record(1_us, 7);
  EXPECT_EQ(series.at(3600_s), 7);
  series.record(3600_s, 8);
  EXPECT_EQ(series.at(Nanos(3'600'000'000'000 - 1)), 7);
  EXPECT_EQ(series.at(3600_s), 8);
  EXPECT_FALSE(series.at(3599_s));
  EXPECT_FALSE(series.at(1_us));
}

TEST(TimeSeries, KnowsNothingBeforeItsFirstRecord) {
  TimeSeries<16> series(10);
  EXPECT_FALSE(series.at(kNever));
  series.record(5000_ns, 1);
  EXPECT_FALSE(series.at(4999_ns));
  EXPECT_FALSE(series.at(0_ns));
  EXPECT_EQ(series.at(5000_ns), 1);
}

}  // namespace
}  // namespace turnpike
