// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/neighbour_requests.h"

#include <gtest/gtest.h>

namespace turnpike::router {
namespace {

using Decision = NeighbourRequests::Decision;

TEST(NeighbourRequests, OneAddressOnceInAnInterval) {
  NeighbourRequests requests({.interval = 1_s, .addresses = 10});
  const Address a = config::Ipv4{1};
  uint64_t asked = 0;
  for (Nanos now{0}; now < 20_s; now += 10_ms) {
    const bool ask = requests.ask(0, a, now) == Decision::kAsk;
    asked += ask ? 1 : 0;
  }
  EXPECT_GE(asked, 9U);
  EXPECT_LE(asked, 20U);
  EXPECT_EQ(requests.ask(1, a, 20_s), Decision::kAsk) << "another link";
  EXPECT_EQ(requests.ask(0, config::Ipv6{}, 20_s), Decision::kAsk) << "another address";
}

TEST(NeighbourRequests, NeverTwiceWithinAnInterval) {
  NeighbourRequests requests({.interval = 1_s, .addresses = 10});
  const Address a = config::Ipv4{1};
  Nanos last{-2'000'000'000};
  for (Nanos now{0}; now < 30_s; now += 7_ms) {
    if (requests.ask(0, a, now) != Decision::kAsk) continue;
    EXPECT_GE((now - last).count(), (1_s).count());
    last = now;
  }
}

TEST(NeighbourRequests, ScanOfASubnetIsBounded) {
  NeighbourRequests requests({.interval = 1_s, .addresses = 100});
  uint64_t asked = 0, refused = 0;
  for (uint32_t i = 0; i < 100'000; ++i) {
    const Decision d = requests.ask(0, config::Ipv4{i}, Nanos(int64_t{i} * 100'000));  // 10 s
    asked += d == Decision::kAsk ? 1 : 0;
    refused += d == Decision::kTooMany ? 1 : 0;
  }
  EXPECT_EQ(asked, 1000U);
  EXPECT_EQ(asked + refused, 100'000U);
}

}  // namespace
}  // namespace turnpike::router
