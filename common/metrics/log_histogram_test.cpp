// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics/log_histogram.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace turnpike::metrics {
namespace {

TEST(LogHistogram, IsExactForOneValue) {
  LogHistogram h(1e-9);
  h.record(3.3e-8, 1500);
  h.record(3.3e-8, 64);
  EXPECT_EQ(h.read().total(), 1564U);
  EXPECT_DOUBLE_EQ(h.read().quantile(0.95), 3.3e-8);
  EXPECT_DOUBLE_EQ(h.read().mean(), 3.3e-8);
}

TEST(LogHistogram, WithoutValuesIsZero) {
  const auto none = LogHistogram(1).read();
  EXPECT_EQ(none.quantile(0.5), 0);
  EXPECT_EQ(none.mean(), 0);
}

TEST(LogHistogram, CountsByWeight) {
  LogHistogram h(1);
  h.record(10, 94);
  h.record(1000, 6);
  EXPECT_NEAR(h.read().quantile(0.94), 10, 1.25);
  EXPECT_NEAR(h.read().quantile(0.95), 1000, 125);
}

TEST(LogHistogram, HasWhatCameAfterACopy) {
  LogHistogram h(1);
  h.record(10, 100);
  const auto before = h.read();
  h.record(40, 5);
  const auto later = h.read().since(before);
  EXPECT_EQ(later.total(), 5U);
  EXPECT_DOUBLE_EQ(later.quantile(0.5), 40);
}

TEST(LogHistogram, SaysABoundOutsideOfItsRange) {
  LogHistogram h(1);
  h.record(1e-30, 99);
  h.record(1e3, 1);
  EXPECT_EQ(h.read().quantile(0.5), 1) << "at most";
  LogHistogram high(1);
  high.record(0, 1);
  high.record(1e30, 1);
  EXPECT_GE(high.read().quantile(0.99), 1U << LogHistogram::kOctaves) << "at least";
  high.record(-1, 1);
  high.record(std::numeric_limits<double>::quiet_NaN(), 1);
  high.record(std::numeric_limits<double>::infinity(), 1);
  EXPECT_EQ(high.read().total(), 5U);
}

TEST(LogHistogram, CountsBelowAPowerOfTwo) {
  LogHistogram h(1);
  for (const double v : {0.5, 1.0, 1.9, 2.0, 3.0, 1e9}) h.record(v);
  EXPECT_EQ(h.read().below(0), 1U);
  EXPECT_EQ(h.read().below(1), 3U);
  EXPECT_EQ(h.read().below(2), 5U);
  EXPECT_EQ(h.read().below(LogHistogram::kOctaves), 5U);
}

RC_GTEST_PROP(LogHistogram, QuantilesAreWithinTheirError, ()) {
  const auto exponents =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000 * 19)));
  const double q = *rc::gen::inRange(1, 100) / 100.0;
  LogHistogram h(1e-3);
  std::vector<double> values;
  for (const int e : exponents) {
    values.push_back(1e-3 * std::exp2(e / 1000.0));
    h.record(values.back());
  }
  std::ranges::sort(values);
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
  const double exact = values[std::max<size_t>(rank, 1) - 1];
  // Half a bucket; the mean, where it stands for its bucket, may be at the other end.
  RC_ASSERT(std::abs(h.read().quantile(q) - exact) <= 0.25 * exact * (1 + 1e-9));
}

}  // namespace
}  // namespace turnpike::metrics
