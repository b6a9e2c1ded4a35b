// SPDX-License-Identifier: BSD-3-Clause
// Applications that cannot use their budget: the network counts only the budget that they spend.
#include <gtest/gtest.h>

#include "tests/support/fcp_network.h"

namespace turnpike::fcp::testing {
namespace {

constexpr double kMbps = 1e6;
constexpr auto kForever = std::numeric_limits<double>::infinity();

/// Two flows with 1 $/s each over 20 Mbps and 40 ms.
struct Shared : ToyNetwork {
  size_t link = add_link(20_Mbps, 20_ms);
  size_t limited = add_flow({link}, 20_ms, Budget(1), 0_s, kForever);
  size_t other = add_flow({link}, 20_ms, Budget(1), 0_s, kForever);
  void expect_rates(double first, double second) {
    (void)delivered_rate(limited);
    (void)delivered_rate(other);
    run_until(now() + 4_s);
    EXPECT_NEAR(delivered_rate(limited).count(), first * kMbps, 0.03 * first * kMbps);
    EXPECT_NEAR(delivered_rate(other).count(), second * kMbps, 0.03 * second * kMbps);
  }
};

TEST(FcpLimit, WhatOneCannotUseTheOtherGets) {
  Shared net;
  net.limit(net.limited, 5_Mbps);
  net.run_until(4_s);
  net.forget_max_queue(net.link);
  net.expect_rates(5, 15);
  EXPECT_LT(net.max_queue(net.link), 10e3);
  const double price = net.price(net.link);
  EXPECT_NEAR(net.flow(net.limited).committed / (price * 5e6 / 8), 1, 0.03)
      << "the network counts on what is spent";
}

TEST(FcpLimit, AboveItsShareChangesNothing) {
  Shared net;
  net.limit(net.limited, 15_Mbps);
  net.run_until(4_s);
  net.expect_rates(10, 10);
  EXPECT_NEAR(net.flow(net.limited).committed, 1, 0.01);
}

TEST(FcpLimit, GoneItTakesItsShareBack) {
  Shared net;
  net.limit(net.limited, 5_Mbps);
  net.run_until(4_s);
  net.limit(net.limited, BitRate(std::numeric_limits<double>::infinity()));
  net.run_until(6_s);
  net.expect_rates(10, 10);
}

// Four times on and off: a returning flow promises first and sends afterwards.
TEST(FcpLimit, ReturningFlowsDoNotBurst) {
  Shared net;
  net.run_until(2_s);
  net.forget_max_queue(net.link);
  for (int i = 0; i < 4; ++i) {
    net.pause(net.limited);
    net.run_until(net.now() + 500_ms);
    net.resume(net.limited);
    net.run_until(net.now() + 500_ms);
  }
  EXPECT_LT(net.max_queue(net.link), 0.2 * 20e6 / 8 * 0.040) << "of a bandwidth-delay product";
  net.expect_rates(10, 10);
}

}  // namespace
}  // namespace turnpike::fcp::testing
