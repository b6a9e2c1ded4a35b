// SPDX-License-Identifier: BSD-3-Clause
// Routes that a control plane sets, as packets meet them: several paths, none, and routes that
// drop.
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

constexpr config::Mac kA{2, 0, 0, 0, 9, 1}, kB{2, 0, 0, 0, 9, 2}, kC{2, 0, 0, 0, 9, 3};

config::Topology with_fib() {
  config::Topology t = topology();
  t.routers[0].fib = config::FibSize{.ipv4 = 1000, .ipv6 = 1000};
  return t;
}

Prefix net(const char* text) {
  if (const auto p = config::parse_ipv4_prefix(text)) return *p;
  return *config::parse_ipv6_prefix(text);
}

class PathsTest : public ::testing::Test {
 protected:
  PathsTest() {
    table.set_neighbour(kLeft, ipv4("10.0.1.11"), kA);
    table.set_neighbour(kNarrow, ipv4("10.0.3.11"), kB);
    table.set_neighbour(kNarrow, ipv6("fe80::11"), kC);
  }

  /// A route of any family to the neighbours above; weight 0: not to this one.
  void route(const char* prefix, uint16_t a, uint16_t b, uint16_t c) {
    Route r{.distance = 20};
    if (a > 0) r.paths.push_back({.link = kLeft, .gateway = ipv4("10.0.1.11"), .weight = a});
    if (b > 0) r.paths.push_back({.link = kNarrow, .gateway = ipv4("10.0.3.11"), .weight = b});
    if (c > 0) r.paths.push_back({.link = kNarrow, .gateway = ipv6("fe80::11"), .weight = c});
    table.set_route(net(prefix), r);
    table.commit();
  }
  void drop(const char* prefix, Route::Action action) {
    table.set_route(net(prefix), {.action = action, .distance = 20});
    table.commit();
  }

  /// The neighbour that the router sends each frame to.
  std::vector<config::Mac> sent_to(const std::vector<Frame>& frames) {
    std::vector<config::Mac> to;
    for (const Frame& f : frames) {
      world.arrive(kLeft, f);
      world.poll(world.now + 1_us);
      for (const size_t link : {kLeft, kNarrow})
        for (const Frame& out : world.sent(link))
          std::copy_n(out.begin(), 6, to.emplace_back().begin());
    }
    EXPECT_EQ(to.size(), frames.size());
    return to;
  }
  static std::vector<Frame> flows(size_t n, bool v6_flows = false) {
    std::mt19937 random(5);
    std::vector<Frame> frames;
    for (size_t i = 0; i < n; ++i) {
      const std::string last = std::to_string(1 + random() % 200);
      const Frame payload =
          udp(static_cast<uint16_t>(random()), static_cast<uint16_t>(random()), bytes(20));
      frames.push_back(v6_flows ? v6({.destination = "2001:db8::" + last}, payload)
                                : v4({.destination = "198.18.0." + last}, payload));
    }
    return frames;
  }
  /// Type and code of the ICMP message of either version that came back to the left host.
  std::pair<int, int> icmp_after(const Frame& frame) {
    world.arrive(kLeft, frame);
    world.poll(world.now + 1_s);
    const Frame reply = world.only(kLeft);
    EXPECT_EQ(unsound(reply), "");
    const size_t at = reply[12] == 0x86 ? 14 + 40 : 14 + 20;
    return {reply[at], reply[at + 1]};
  }

  World world{1, with_fib()};
  RouteTable& table = *world.router().routes();
};

TEST_F(PathsTest, SharesFollowTheWeightsAndFlowsStayOnRemoval) {
  constexpr size_t kFlows = 10'000;
  const std::vector<Frame> frames = flows(kFlows);
  route("198.18.0.0/15", 1, 1, 2);
  const auto three = sent_to(frames);
  std::map<config::Mac, double> share;
  for (const config::Mac& m : three) share[m] += 1.0 / kFlows;
  EXPECT_NEAR(share[kA], 0.25, 0.25 * 0.05);
  EXPECT_NEAR(share[kB], 0.25, 0.25 * 0.05);
  EXPECT_NEAR(share[kC], 0.5, 0.5 * 0.05);

  route("198.18.0.0/15", 1, 0, 2);
  const auto two = sent_to(frames);
  for (size_t i = 0; i < kFlows; ++i) {
    if (three[i] != kB) {
      ASSERT_EQ(two[i], three[i]);
    }
  }
  route("198.18.0.0/15", 1, 1, 2);
  const auto again = sent_to(frames);
  size_t moved = 0;
  for (size_t i = 0; i < kFlows; ++i) {
    moved += again[i] != two[i];
    if (again[i] != two[i]) {
      ASSERT_EQ(again[i], kB);
    }
  }
  EXPECT_NEAR(static_cast<double>(moved) / kFlows, 0.25, 0.25 * 0.05);
}

TEST_F(PathsTest, Ipv6FlowsChooseAsWell) {
  const std::vector<Frame> frames = flows(2000, true);
  route("2001:db8::/32", 1, 0, 1);
  const auto first = sent_to(frames);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(first, kA)), 1000, 100);
  EXPECT_EQ(sent_to(frames), first);
}

TEST_F(PathsTest, AllFragmentsOfADatagramTakeOnePath) {
  route("198.18.0.0/15", 1, 1, 0);
  std::map<config::Mac, int> used;
  for (int i = 1; i < 60; ++i) {
    const std::string to = "198.18.0." + std::to_string(i);
    const auto at = sent_to({v4({.destination = to, .fragment = 0x2000}, udp(1, 2, bytes(32))),
                             v4({.destination = to, .fragment = 5}, bytes(32))});
    EXPECT_EQ(at[0], at[1]);
    ++used[at[0]];
  }
  EXPECT_GT(used[kA], 10);
  EXPECT_GT(used[kB], 10);
}

TEST_F(PathsTest, AnIpv4RouteByAnIpv6Gateway) {
  route("198.18.0.0/15", 0, 0, 1);
  EXPECT_EQ(sent_to(flows(1)), std::vector{kC});
}

TEST_F(PathsTest, ABlackHoleIsSilent) {
  drop("198.18.0.0/15", Route::Action::kBlackhole);
  world.arrive(kLeft, flows(1)[0]);
  world.poll(world.now);
  EXPECT_TRUE(world.sent(kLeft).empty());
  world.expect_one_drop(DropReason::kBlackhole);
}

TEST_F(PathsTest, UnreachableAndProhibitedAreReported) {
  using Message = std::pair<int, int>;
  drop("198.18.0.0/15", Route::Action::kUnreachable);
  drop("2001:db8::/32", Route::Action::kUnreachable);
  EXPECT_EQ(icmp_after(flows(1)[0]), Message(3, 1));
  EXPECT_EQ(icmp_after(flows(1, true)[0]), Message(1, 6));
  EXPECT_EQ(world.drops(DropReason::kUnreachable), 2U);
  drop("198.18.0.0/15", Route::Action::kProhibit);
  drop("2001:db8::/32", Route::Action::kProhibit);
  EXPECT_EQ(icmp_after(flows(1)[0]), Message(3, 13));
  EXPECT_EQ(icmp_after(flows(1, true)[0]), Message(1, 1));
  EXPECT_EQ(world.drops(DropReason::kProhibited), 2U);
}

TEST_F(PathsTest, WithoutAControlPlaneAnUnresolvedGatewayIsNoNeighbour) {
  route("198.18.0.0/15", 1, 0, 0);
  table.erase_neighbour(kLeft, ipv4("10.0.1.11"));
  table.commit();
  EXPECT_EQ(icmp_after(flows(1)[0]), (std::pair<int, int>(3, 1)));
  world.expect_one_drop(DropReason::kNoNeighbour);
}

// The table holds the same as the tables that never change.
TEST_F(PathsTest, TheFilesRoutesAreAsInTables) {
  const auto fixed = Tables::build(topology(), 0, -1);
  ASSERT_TRUE(fixed);
  const auto same = [&](const auto& address) {
    const NextHop &a = (*fixed)->find(address), &b = table.current().load()->find(address);
    const bool unknown = a.action == NextHop::Action::kNoNeighbour;
    EXPECT_EQ(b.action, unknown ? NextHop::Action::kUnresolved : a.action);
    if (a.action == NextHop::Action::kForward) {
      EXPECT_EQ(b.link, a.link);
      EXPECT_EQ(b.mtu, a.mtu);
      EXPECT_EQ(b.overhead, a.overhead);
      EXPECT_EQ(b.macs.destination, a.macs.destination);
      EXPECT_EQ(b.macs.source, a.macs.source);
    }
  };
  for (const char* a : {"10.0.1.0", "10.0.1.1", "10.0.1.2", "10.0.1.3", "10.0.1.255", "10.0.2.2",
                        "10.0.3.2", "172.16.0.1", "172.16.5.1", "172.31.255.255", "172.32.0.0"})
    same(ipv4(a));
  for (const char* a : {"fd00:1::", "fd00:1::1", "fd00:1::2", "fd00:1::3", "fd01::1", "fd02::1"})
    same(ipv6(a));
}

TEST_F(PathsTest, ALearntRouteOfASmallerDistanceReplacesTheFiles) {
  config::Topology t = with_fib();
  t.routers[0].ipv4_routes[0].distance = 200;  // 172.16.0.0/12, to the right
  World other(1, t);
  RouteTable& routes = *other.router().routes();
  EXPECT_EQ(routes.current().load()->find(ipv4("172.16.0.1")).link, kRight);
  routes.set_route(net("172.16.0.0/12"),
                   {.distance = 20, .paths = {{.link = kNarrow, .gateway = ipv4("10.0.3.2")}}});
  routes.commit();
  EXPECT_EQ(routes.current().load()->find(ipv4("172.16.0.1")).link, kNarrow);
  routes.erase_route(net("172.16.0.0/12"), 20, 0);
  routes.commit();
  EXPECT_EQ(routes.current().load()->find(ipv4("172.16.0.1")).link, kRight);
}

TEST(FileRoutes, AControlPlaneLearnsAddressesAndSubnets) {
  World keep_eal_up;
  config::Topology t = with_fib();
  t.routers[0].ipv4_by_hand = 1;
  World world(1, t, {.addresses = Addresses::kFromControlPlane});
  RouteTable& table = *world.router().routes();
  std::map<std::string, Route> routes;
  table.for_each([&](const Prefix& p, const Route& r, bool) {
    routes[std::visit([](const auto& q) { return config::prefix_text(q); }, p)] = r;
  });
  ASSERT_EQ(routes.size(), 1U);
  const Route& only = routes["172.16.0.0/12"];
  EXPECT_EQ(only.distance, 1);
  ASSERT_EQ(only.paths.size(), 1U);
  EXPECT_EQ(only.paths[0], (Path{.link = kRight, .gateway = ipv4("10.0.2.2")}));
}

TEST(FileRoutes, TooSmallATableIsAMistakeThatNamesItsKey) {
  World keep_eal_up;
  config::Topology t = with_fib();
  t.routers[0].fib->ipv4 = 3;
  try {
    const World world(1, t);
    FAIL() << "made";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("raise fib.ipv4"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace turnpike::router::test
