// SPDX-License-Identifier: BSD-3-Clause
// Laws together against theory: expected minimum rates, their limits, weights, virtual delays, and
// paths with both kinds of queue.
#include <gtest/gtest.h>

#include "tests/support/acc_network.h"

namespace turnpike::acc::testing {
namespace {

/// Flow 0 and nine others without parameters at 100 Mbit/s, with round trips from 4 to 202 ms.
ToyNetwork ten_flows(Queue queue, FlowChanges params) {
  ToyNetwork net;
  net.add_link(100_Mbps, 1_ms, queue);
  for (int i = 0; i < 10; ++i) net.add_flow({0}, 3_ms + 22_ms * i, i == 0 ? params : FlowChanges{});
  return net;
}

TEST(AccNetwork, FlowsWaitForTheirTargetsInTheQueueAndShareEvenly) {
  ToyNetwork net = ten_flows(kDropTail, {});
  net.run_until(30_s);
  net.measure();
  net.run_until(60_s);
  for (size_t i = 0; i < 10; ++i) EXPECT_NEAR(net.rate(i), 10, 1) << i;
  EXPECT_GT(net.utilisation(0), 0.999);
  EXPECT_NEAR(net.mean_queue(0), 30e3, 3e3);
}

// 7500 packets are in flight in 600 ms, and a window grows by one in that time. The window doubles
// to W, at most twice the path's BDP, which leaves an excess of W - BDP in the link's queue and as
// much in the virtual one. Subtracting half of that, once, leaves the BDP.
TEST(AccNetwork, OneFlowFillsALongPathWithinFiftyRoundTrips) {
  const auto utilisation = [](Queue queue, Nanos rtt) {
    ToyNetwork net;
    net.add_link(100_Mbps, 1_ms, queue);
    net.add_flow({0}, rtt);
    net.run_until(rtt * 40);
    net.measure();
    net.run_until(rtt * 50);
    return net.utilisation(0);
  };
  for (const Nanos rtt : {100_ms, 600_ms}) {
    for (const Queue queue : {kDropTail, kAvd})
      EXPECT_GT(utilisation(queue, rtt), 0.85) << to_seconds(rtt);
  }
}

TEST(AccNetwork, AnExpectedMinimumRateIsHadBesideAnEvenShareOfTheRest) {
  for (const double expected : {20e6, 50e6, 80e6}) {
    ToyNetwork net = ten_flows(kDropTail, {{kMinimumRate, expected}});
    net.run_until(40_s);
    net.measure();
    net.run_until(60_s);
    const double share = expected * 1e-6 + (100 - expected * 1e-6) / 10;
    EXPECT_NEAR(net.rate(0), share, 0.05 * (share + 10)) << expected;
    EXPECT_GT(net.rate(0), expected * 1e-6) << expected;
  }
}

TEST(AccNetwork, ALimitMakesOfItAShareByAccumulations) {
  ToyNetwork net = ten_flows(kDropTail, {{kMinimumRate, 80e6}, {kLimit, 30e3}});
  net.run_until(40_s);
  net.measure();
  net.run_until(80_s);
  EXPECT_NEAR(net.rate(0), 100 * 30.0 / (30 + 27), 2.6);
  EXPECT_NEAR(net.mean_queue(0), 57e3, 4e3);
}

TEST(AccNetwork, WeightsAreRatiosOfRates) {
  for (const double weight : {10.0, 100.0}) {
    ToyNetwork net = ten_flows(kDropTail, {{kWeight, weight}});
    net.run_until(60_s);
    net.measure();
    net.run_until(100_s);
    double others = 0;
    for (size_t i = 1; i < 10; ++i) others += net.rate(i) / 9;
    EXPECT_NEAR(net.rate(0) / others / weight, 1, 0.1) << weight;
    EXPECT_NEAR(net.mean_queue(0) / (3e3 * (weight + 9)), 1, 0.1) << weight;
  }
}

TEST(AccNetwork, AVirtualDelayKeepsTheQueueEmptyAndTheShares) {
  ToyNetwork net = ten_flows(kAvd, {{kWeight, 10}});
  net.run_until(100_s);
  net.measure();
  net.run_until(200_s);
  double others = 0;
  for (size_t i = 1; i < 10; ++i) others += net.rate(i) / 9;
  EXPECT_NEAR(net.rate(0) / others, 10, 1);
  EXPECT_NEAR(net.utilisation(0), 0.98, 0.005);
  EXPECT_LT(net.mean_queue(0), 2000);
}

// One long flow and one short one at each of two links: equation 28 gives the long one a third.
TEST(AccNetwork, PathsMayHaveBothKindsOfQueue) {
  ToyNetwork net;
  net.add_link(10_Mbps, 5_ms, kDropTail);
  net.add_link(10_Mbps, 5_ms, kAvd);
  net.add_flow({0, 1}, 10_ms);
  net.add_flow({0}, 15_ms);
  net.add_flow({1}, 15_ms);
  net.run_until(100_s);
  net.measure();
  net.run_until(200_s);
  EXPECT_NEAR(net.rate(0), 10.0 / 3, 0.4);
  EXPECT_GT(net.utilisation(0), 0.99);
  EXPECT_NEAR(net.utilisation(1), 0.98, 0.01);
  EXPECT_LT(net.mean_queue(1), 2000);
}

}  // namespace
}  // namespace turnpike::acc::testing
