// SPDX-License-Identifier: BSD-3-Clause
// Lookups against the longest match by linear search.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

template <class Prefix, class Address>
int naive_link(const std::vector<config::Route<Prefix>>& routes, const Address& a) {
  int link = -1, length = -1;
  for (const auto& r : routes)
    if (config::contains(r.prefix, a) && r.prefix.length > length) {
      length = r.prefix.length;
      link = static_cast<int>(r.link);
    }
  return link;
}

class TablesOf : public ::testing::TestWithParam<FibKind> {};

INSTANTIATE_TEST_SUITE_P(EachKind, TablesOf, ::testing::Values(FibKind::kTable, FibKind::kRanges),
                         [](const auto& kind) {
                           return kind.param == FibKind::kTable ? "Table" : "Ranges";
                         });

TEST_P(TablesOf, FindTheLongestMatch) {
  World keep_eal_up;
  std::mt19937_64 random(9);
  config::Topology t = topology();
  config::Router& gate = t.routers[0];
  gate.ipv4_routes.clear();
  gate.ipv6_routes.clear();
  // Dense on purpose: prefixes of all lengths within a few bits of each other.
  std::set<std::pair<uint32_t, int>> seen;
  for (int i = 0; i < 400; ++i) {
    const auto length = static_cast<uint8_t>(8 + random() % 25);
    const config::Ipv4Prefix p = config::network(
        config::Ipv4Prefix{0x64000000 | static_cast<uint32_t>(random() & 0x010103ff), length});
    if (seen.emplace(p.address, p.length).second)
      gate.ipv4_routes.push_back({p, static_cast<size_t>(random() % 3)});
  }
  std::set<std::pair<config::Ipv6, int>> seen6;
  for (int i = 0; i < 300; ++i) {
    config::Ipv6 a{0x20, 1};
    a[5] = static_cast<uint8_t>(random() & 1);
    a[9] = static_cast<uint8_t>(random() & 3);
    a[15] = static_cast<uint8_t>(random() & 7);
    const config::Ipv6Prefix p =
        config::network(config::Ipv6Prefix{a, static_cast<uint8_t>(16 + random() % 113)});
    if (seen6.emplace(p.address, p.length).second)
      gate.ipv6_routes.push_back({p, static_cast<size_t>(random() % 3)});
  }
  auto tables = Tables::build(t, 0, -1, Tables::With::kRoutes, GetParam());
  ASSERT_TRUE(tables) << tables.error();
  for (int i = 0; i < 20000; ++i) {
    const uint32_t a = 0x64000000 | static_cast<uint32_t>(random() & 0x010103ff);
    const NextHop& hop = (*tables)->find(a);
    const int link = naive_link(gate.ipv4_routes, a);
    ASSERT_EQ(hop.action == NextHop::Action::kForward, link >= 0);
    if (link >= 0) {
      ASSERT_EQ(hop.link, link);
    }
    config::Ipv6 b{0x20, 1};
    b[5] = static_cast<uint8_t>(random() & 1);
    b[9] = static_cast<uint8_t>(random() & 3);
    b[15] = static_cast<uint8_t>(random() & 7);
    const NextHop& hop6 = (*tables)->find(b);
    const int link6 = naive_link(gate.ipv6_routes, b);
    ASSERT_EQ(hop6.action == NextHop::Action::kForward, link6 >= 0);
    if (link6 >= 0) {
      ASSERT_EQ(hop6.link, link6);
    }
  }
}

// More groups than an entry of two bytes can address.
TEST(Tables, TakeTensOfThousandsOfLongPrefixes) {
  World keep_eal_up;
  config::Topology t = topology();
  config::Router& gate = t.routers[0];
  constexpr uint32_t kRoutes = 40'000;
  for (uint32_t i = 0; i < kRoutes; ++i) {
    gate.ipv4_routes.push_back({{0x30000000 + (i << 8), 25}, i % 3});
    if (i < kRoutes / 2) {
      config::Ipv6 a{0x20, 1};
      for (size_t k = 0; k < 4; ++k) a[2 + k] = static_cast<uint8_t>(i >> (24 - 8 * k));
      gate.ipv6_routes.push_back({{a, 48}, i % 3});
    }
  }
  const auto tables = Tables::build(t, 0, -1);
  ASSERT_TRUE(tables) << tables.error();
  for (uint32_t i = 0; i < kRoutes; i += 7) {
    EXPECT_EQ((*tables)->find(0x30000000 + (i << 8) + 5).link, i % 3);
    EXPECT_NE((*tables)->find(0x30000000 + (i << 8) + 200).action, NextHop::Action::kForward);
  }
  const config::Ipv6Prefix& last = gate.ipv6_routes.back().prefix;
  config::Ipv6 a = last.address;
  a[15] = 1;
  EXPECT_EQ((*tables)->find(a).link, (kRoutes / 2 - 1) % 3);
}

TEST(Tables, ConnectedSubnetsHaveOneNeighbourAndUs) {
  World keep_eal_up;
  auto tables = Tables::build(topology(), 0, -1);
  ASSERT_TRUE(tables);
  using A = NextHop::Action;
  for (const auto& [address, action] : {std::pair{"10.0.2.2", A::kForward},
                                        {"10.0.2.1", A::kLocal},
                                        {"10.0.2.3", A::kNoNeighbour},
                                        {"10.0.2.0", A::kBroadcast},
                                        {"10.0.2.255", A::kBroadcast},
                                        {"10.0.4.1", A::kNoRoute}})
    EXPECT_EQ((*tables)->find(ipv4(address)).action, action) << address;
  const NextHop& hop = (*tables)->find(ipv4("172.16.5.1"));
  EXPECT_EQ(hop.macs.destination, host_mac(kNarrow));
  EXPECT_EQ(hop.macs.source, router_mac(kNarrow));
  EXPECT_EQ(hop.mtu, 1280);
  EXPECT_EQ((*tables)->find(ipv6("fd00:2::2")).action, A::kForward);
  EXPECT_EQ((*tables)->find(ipv6("fd00:2::1")).action, A::kLocal);
  EXPECT_EQ((*tables)->find(ipv6("fd00:2::3")).action, A::kNoNeighbour);
  EXPECT_TRUE((*tables)->own(ipv4("10.0.3.1")));
  EXPECT_FALSE((*tables)->own(ipv4("10.0.3.2")));
}

TEST(Tables, DefaultRoutesAndPointToPointSubnets) {
  World keep_eal_up;
  config::Topology t = topology();
  t.routers[0].ipv4_routes = {{{0, 0}, kRight}};
  t.routers[0].ipv6_routes = {{{{}, 0}, kRight}};
  t.links[kLeft].ends[0].ipv4 = {ipv4("192.0.2.0"), 31};
  t.links[kLeft].ends[1].ipv4 = {ipv4("192.0.2.1"), 31};
  auto tables = Tables::build(t, 0, -1);
  ASSERT_TRUE(tables);
  EXPECT_EQ((*tables)->find(ipv4("192.0.2.0")).action, NextHop::Action::kLocal);
  EXPECT_EQ((*tables)->find(ipv4("192.0.2.1")).action, NextHop::Action::kForward);
  EXPECT_EQ((*tables)->find(ipv4("8.8.8.8")).link, kRight);
  EXPECT_EQ((*tables)->find(ipv6("2001:db8::9")).link, kRight);
}

}  // namespace
}  // namespace turnpike::router::test
