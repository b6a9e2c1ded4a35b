// SPDX-License-Identifier: BSD-3-Clause
// Histograms against the sorted list of all values.
#include "common/metrics/histogram.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace turnpike::metrics {
namespace {

void expect_same(const Histogram& h, std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  RC_ASSERT(h.count() == values.size());
  RC_ASSERT(h.min() == (values.empty() ? 0 : values.front()));
  RC_ASSERT(h.max() == (values.empty() ? 0 : values.back()));
  if (values.empty()) {
    RC_ASSERT(h.quantile(0.5) == 0U);
    RC_ASSERT(h.mean() == 0);
    return;
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  RC_ASSERT(std::abs(h.sum() - sum) <= 1e-12 * sum);
  for (const double q : {0.0, 1e-9, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    const auto exact = static_cast<double>(values[std::max<size_t>(rank, 1) - 1]);
    const auto got = static_cast<double>(h.quantile(q));
    RC_ASSERT(std::abs(got - exact) <= exact / 128);
  }
}

// Values of every magnitude: rapidcheck's own are mostly small.
rc::Gen<std::vector<uint64_t>> values() {
  return rc::gen::container<std::vector<uint64_t>>(
      rc::gen::map(rc::gen::pair(rc::gen::arbitrary<uint64_t>(), rc::gen::inRange(0, 64)),
                   [](const auto& p) { return (p.first * 0x9e3779b97f4a7c15U) >> p.second; }));
}

RC_GTEST_PROP(Histogram, AgreesWithTheSortedValues, ()) {
  const auto all = *values();
  const auto h = std::make_unique<Histogram>();
  for (const uint64_t v : all) h->record(v);
  expect_same(*h, all);
}

RC_GTEST_PROP(Histogram, MergingIsRecordingBoth, ()) {
  const auto a = *values(), b = *values();
  const auto first = std::make_unique<SharedHistogram>();
  const auto both = std::make_unique<Histogram>();
  for (const uint64_t v : a) first->record(v);
  for (const uint64_t v : b) both->record(v);
  both->merge(*first);
  auto all = a;
  all.insert(all.end(), b.begin(), b.end());
  expect_same(*both, all);
}

RC_GTEST_PROP(Histogram, CountsUpToAValue, ()) {
  const auto all = *values();
  const auto limit = *rc::gen::arbitrary<uint64_t>();
  const auto h = std::make_unique<Histogram>();
  for (const uint64_t v : all) h->record(v);
  const auto up_to = [&](double x) {
    return static_cast<uint64_t>(std::count_if(
        all.begin(), all.end(), [&](uint64_t v) { return static_cast<double>(v) <= x; }));
  };
  const uint64_t got = h->count_up_to(limit);
  RC_ASSERT(got >= up_to(static_cast<double>(limit) * (1 - 1.0 / 64)));
  RC_ASSERT(got <= up_to(static_cast<double>(limit) * (1 + 1.0 / 64)));
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (uint64_t v = 0; v < 128; ++v) h.record(v);
  for (uint64_t v = 0; v < 128; ++v) {
    EXPECT_EQ(h.quantile(static_cast<double>(v + 1) / 128), v);
    EXPECT_EQ(h.count_up_to(v), v + 1);
  }
}

TEST(Histogram, TakesTheWholeRange) {
  Histogram h;
  h.record(0);
  h.record(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(h.quantile(0), 0U);
  EXPECT_EQ(h.quantile(1), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(h.quantile(std::nan("")), 0U);
  EXPECT_EQ(h.count_up_to(std::numeric_limits<uint64_t>::max()), 2U);
}

TEST(Histogram, CopyTakenWhileRecordingIsConsistent) {
  const auto live = std::make_unique<SharedHistogram>();
  std::thread writer([&] {
    std::mt19937_64 random(1);
    for (int i = 0; i < 2'000'000; ++i) live->record(1000 + random() % 1000);
  });
  uint64_t last = 0;
  for (int i = 0; i < 200; ++i) {
    Histogram copy;
    copy.merge(*live);
    ASSERT_GE(copy.count(), last);
    last = copy.count();
    if (last == 0) continue;
    ASSERT_GE(copy.min(), 1000U);
    ASSERT_LT(copy.max(), 2000U);
    ASSERT_GE(copy.quantile(0.5), 992U);
    ASSERT_LE(copy.quantile(0.99), 2008U);
  }
  writer.join();
  Histogram copy;
  copy.merge(*live);
  EXPECT_EQ(copy.count(), 2'000'000U);
}

TEST(Histogram, TellsWhatCameSinceACopy) {
  Histogram h;
  for (uint64_t v : {5U, 7U, 1'000'000U}) h.record(v);
  const Histogram before = h;
  for (uint64_t v : {7U, 9U, 2000U}) h.record(v);
  const Histogram since = h.since(before);
  EXPECT_EQ(since.count(), 3U);
  EXPECT_EQ(since.min(), 7U);
  EXPECT_NEAR(static_cast<double>(since.max()), 2000, 32);
  EXPECT_NEAR(since.mean(), 2016.0 / 3, 1e-6);
  EXPECT_EQ(since.quantile(0.5), 9U);
  EXPECT_EQ(h.since(h).count(), 0U);
  EXPECT_EQ(h.since(h).max(), 0U);
}

}  // namespace
}  // namespace turnpike::metrics
