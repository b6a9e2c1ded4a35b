// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/neighbour_probes.h"

#include <vector>

#include <gtest/gtest.h>

namespace turnpike::router {
namespace {

size_t sent(NeighbourProbes& probes, Nanos now) {
  size_t n = 0;
  probes.send(now, [&](const NeighbourProbes::Neighbour&) { ++n; });
  return n;
}

TEST(NeighbourProbes, EachOnceInOrder) {
  NeighbourProbes probes({.interval = 1_ms, .burst = 10, .waiting = 3});
  EXPECT_EQ(probes.due(), kNever);
  for (const uint32_t a : {1U, 2U, 1U, 3U}) EXPECT_TRUE(probes.add({0, config::Ipv4{a}}));
  EXPECT_FALSE(probes.add({1, config::Ipv4{1}})) << "a fourth one";
  EXPECT_LE(probes.due(), 1_s);
  std::vector<Address> order;
  probes.send(1_s, [&](const NeighbourProbes::Neighbour& n) { order.push_back(n.address); });
  EXPECT_EQ(order, (std::vector<Address>{config::Ipv4{1}, config::Ipv4{2}, config::Ipv4{3}}));
  EXPECT_TRUE(probes.add({0, config::Ipv4{1}})) << "again, later";
}

TEST(NeighbourProbes, KeepTheirRate) {
  NeighbourProbes probes({.interval = 5_ms, .burst = 20, .waiting = 10'000});
  for (uint32_t a = 0; a < 5000; ++a) probes.add({0, config::Ipv4{a}});
  EXPECT_EQ(sent(probes, 100_s), 20U) << "a burst, however long no neighbour waited";
  size_t n = 0;
  for (Nanos now = 100_s; now < 110_s; now += 7_ms) n += sent(probes, now);
  EXPECT_GE(n, 1990U);
  EXPECT_LE(n, 2001U);
}

}  // namespace
}  // namespace turnpike::router
