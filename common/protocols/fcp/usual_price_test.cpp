// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/usual_price.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace turnpike::fcp {
namespace {

constexpr double kOneTrip = 0.1;

TEST(UsualPrice, KnowsNoneBeforeThereWasOne) {
  UsualPrice usual;
  EXPECT_EQ(usual.ceiling(), std::numeric_limits<double>::infinity());
  usual.pass(kMinPrice.count(), 10, kOneTrip);
  EXPECT_EQ(usual.ceiling(), std::numeric_limits<double>::infinity()) << "MIN is none";
}

TEST(UsualPrice, IsTheGeometricMeanOfTheLast64RoundTrips) {
  UsualPrice usual;
  usual.pass(1e-8, kOneTrip, kOneTrip);
  EXPECT_NEAR(usual.ceiling(), 4e-8, 1e-14);
  // A price spike of one round trip moves it by a 64th of the spike's decades ...
  usual.pass(1e-2, kOneTrip, kOneTrip);
  EXPECT_NEAR(std::log10(usual.ceiling() / 4e-8), 6.0 / 64, 0.01);
  // ... and a price that lasts becomes the usual one.
  usual.pass(1e-6, 64 * 10 * kOneTrip, kOneTrip);
  EXPECT_NEAR(usual.ceiling(), 4e-6, 1e-8);
}

}  // namespace
}  // namespace turnpike::fcp
