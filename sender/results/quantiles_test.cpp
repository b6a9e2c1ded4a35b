// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace turnpike::sender {
namespace {

constexpr std::array kShares{0., .5, .9, .99, 1.};

std::vector<uint64_t> of(const std::vector<uint64_t>& values) {
  return quantiles(
      [&](auto&& take) {
        for (const uint64_t value : values) take(value);
      },
      kShares);
}

TEST(Quantiles, NoneOfNothing) { EXPECT_TRUE(of({}).empty()); }

TEST(Quantiles, OfOneValueAreThatValue) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{2047}, uint64_t{2048}, UINT64_MAX})
    EXPECT_EQ(of({value}), std::vector<uint64_t>(kShares.size(), value));
}

RC_GTEST_PROP(Quantiles, AreThoseOfTheSortedValues, ()) {
  const auto small = rc::gen::inRange<uint64_t>(0, 5000);
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<uint64_t>>(
      rc::gen::oneOf(small, rc::gen::arbitrary<uint64_t>(),
                     rc::gen::map(small, [](uint64_t v) { return v + 4'000'000'000; }))));
  std::vector<uint64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::vector<uint64_t> found = of(values);
  RC_ASSERT(found.size() == kShares.size());
  for (size_t i = 0; i < kShares.size(); ++i) {
    const double rank = std::max(1., std::ceil(kShares[i] * static_cast<double>(sorted.size())));
    RC_ASSERT(found[i] == sorted[static_cast<size_t>(rank) - 1]);
  }
}

}  // namespace
}  // namespace turnpike::sender
