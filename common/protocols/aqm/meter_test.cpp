// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/aqm/meter.h"

#include <gtest/gtest.h>

namespace turnpike::aqm {
namespace {

TEST(Meter, TheAverageIsTheRateAfterAFewWindows) {
  Meter m(1e9, 1.0);
  Nanos now{0};
  for (int i = 0; i < 6000; ++i) {  // 1000 B per ms
    m.take(1000, now);
    now += 1_ms;
  }
  // At fixed gaps T the recurrence's fixed point is s/T.
  EXPECT_NEAR(m.rate(), 1e6, 0.005 * 1e6);
  m.take(1000, now + 1_s);
  EXPECT_NEAR(m.rate(), (1e6 + 1000) / 2.001, 2e3) << "after a second, half is left";
}

TEST(Meter, OfTwiceTheRateHalfIsOut) {
  Meter m(0.5e6, 0.1);
  Nanos now{0};
  int out = 0;
  for (int i = 0; i < 20'000; ++i) {
    out += m.take(1000, now) ? 0 : 1;
    now += 1_ms;
  }
  EXPECT_NEAR(out, 10'000, 100);
  Meter slow(1.01e6, 0.1);
  out = 0;
  for (int i = 0; i < 1000; ++i) out += slow.take(1000, Nanos(int64_t{i} * 1'000'000)) ? 0 : 1;
  EXPECT_EQ(out, 0);
}

}  // namespace
}  // namespace turnpike::aqm
