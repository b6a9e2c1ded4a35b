// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/flow_rates.h"

#include <gtest/gtest.h>

namespace turnpike {
namespace {

/// The rate of a flow that sends packets of 1000 B at `rate` B/s for a second.
double after_a_second(FlowRates& rates, uint32_t flow, double rate, Nanos& now) {
  double measured = 0;
  for (int i = 0; i < rate / 1000; ++i) {
    now += from_seconds(1000 / rate);
    measured = rates.add(flow, 1000, now, 0.1);
  }
  return measured;
}

TEST(FlowRates, MeasuresEachFlow) {
  FlowRates rates;
  Nanos now = 1_s;
  EXPECT_NEAR(after_a_second(rates, 1, 1e6, now), 1e6, 1e4);
  EXPECT_NEAR(after_a_second(rates, 2, 3e6, now), 3e6, 3e4);
}

TEST(FlowRates, AFastFlowStaysMeasuredAmongManySlowOnes) {
  FlowRates rates;
  Nanos now = 1_s;
  after_a_second(rates, 7, 1e6, now);
  double measured = 0;
  uint32_t other = 1000;
  for (int i = 0; i < 10'000; ++i) {
    now += 1_ms;
    measured = rates.add(7, 1000, now, 0.1);
    for (int k = 0; k < 10; ++k) rates.add(other++, 1000, now, 0.1);
  }
  EXPECT_NEAR(measured, 1e6, 1e4);
}

TEST(FlowRates, AFlowThatHasEndedYieldsItsPlace) {
  FlowRates rates;
  Nanos now = 1_s;
  // More flows than there are places, one after the other.
  for (uint32_t flow = 0; flow < 8000; ++flow) rates.add(flow, 1e6, now, 0.1);
  now += 100_s;
  EXPECT_NEAR(after_a_second(rates, 9000, 1e6, now), 1e6, 1e4);
}

}  // namespace
}  // namespace turnpike
