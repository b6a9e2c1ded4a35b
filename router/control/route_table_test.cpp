// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/route_table.h"

#include <thread>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "tests/support/eal.h"

namespace turnpike::router {
namespace {

using Action = NextHop::Action;
constexpr config::Mac kOwn{2, 0, 0, 0, 1, 0}, kA{2, 0, 0, 0, 9, 1}, kB{2, 0, 0, 0, 9, 2};

config::Ipv4 v4(const char* text) { return *config::parse_ipv4(text); }
config::Ipv6 v6(const char* text) { return *config::parse_ipv6(text); }
Prefix net(const char* text) {
  if (const auto p = config::parse_ipv4_prefix(text)) return *p;
  return *config::parse_ipv6_prefix(text);
}
Route by(size_t link, const char* gateway, uint8_t distance = 20) {
  Path p{.link = link, .gateway = {}};
  if (const auto a = config::parse_ipv4(gateway)) p.gateway = *a;
  if (const auto a = config::parse_ipv6(gateway)) p.gateway = *a;
  return {.distance = distance, .paths = {p}};
}

class RouteTableTest : public ::testing::Test {
 protected:
  void make(const FibCapacity& capacity) {
    static int number = 0;
    auto made = RouteTable::make({.name = "test" + std::to_string(number++),
                                  .links = {{.mtu = 1500, .mac = kOwn}, {.mtu = 9000, .mac = kOwn}},
                                  .capacity = capacity});
    ASSERT_TRUE(made) << made.error();
    table = std::move(*made);
  }
  void SetUp() override { make(FibCapacity::of(1000, 1000)); }

  const NextHop& find(const char* address) {
    const Routes& routes = *table->current().load();
    if (const auto a = config::parse_ipv4(address)) return routes.find(*a);
    return routes.find(v6(address));
  }
  Action action(const char* address) { return find(address).action; }

  std::unique_ptr<RouteTable> table;
};

TEST_F(RouteTableTest, ChangesTakeEffectTogetherAtCommit) {
  table->set_route(net("10.0.0.0/8"), by(1, "192.0.2.1"));
  table->set_neighbour(1, v4("192.0.2.1"), kA);
  EXPECT_EQ(action("10.1.2.3"), Action::kNoRoute);
  table->commit();
  const NextHop& hop = find("10.1.2.3");
  EXPECT_EQ(hop.action, Action::kForward);
  EXPECT_EQ(hop.link, 1);
  EXPECT_EQ(hop.mtu, 9000);
  EXPECT_EQ(hop.macs.destination, kA);
  EXPECT_EQ(hop.macs.source, kOwn);
  table->erase_route(net("10.0.0.0/8"), 20, 0);
  EXPECT_EQ(action("10.1.2.3"), Action::kForward);
  table->commit();
  EXPECT_EQ(action("10.1.2.3"), Action::kNoRoute);
  table->commit();
  EXPECT_EQ(action("10.1.2.3"), Action::kNoRoute);
}

TEST_F(RouteTableTest, TheSmallestDistanceThenTheSmallestMetricServes) {
  Route far = by(0, "192.0.2.1", 110), near = by(1, "192.0.2.2", 20), worse = by(0, "192.0.2.3");
  worse.metric = 7;
  for (const Route& r : {far, worse, near}) table->set_route(net("fd00::/16"), r);
  table->commit();
  EXPECT_EQ(find("fd00::1").link, 1);
  table->erase_route(net("fd00::/16"), 20, 0);
  table->commit();
  EXPECT_EQ(table->gateway_of(find("fd00::1").id).gateway, decltype(Via::gateway)(v4("192.0.2.3")));
  table->erase_route(net("fd00::/16"), 20, 7);
  table->erase_route(net("fd00::/16"), 20, 7);  // there is none any more
  table->commit();
  EXPECT_EQ(table->gateway_of(find("fd00::1").id).gateway, decltype(Via::gateway)(v4("192.0.2.1")));
}

TEST_F(RouteTableTest, GatewaysOfEitherFamilyAndOfLinkScope) {
  table->set_route(net("203.0.113.0/24"), by(0, "fe80::1"));  // RFC 8950
  table->set_route(net("2001:db8::/32"), by(1, "fe80::1"));   // the same address, another neighbour
  table->set_neighbour(0, v6("fe80::1"), kA);
  table->set_neighbour(1, v6("fe80::1"), kB);
  table->commit();
  EXPECT_EQ(find("203.0.113.9").macs.destination, kA);
  EXPECT_EQ(find("2001:db8::9").macs.destination, kB);
  table->erase_neighbour(0, v6("fe80::1"));
  table->commit();
  EXPECT_EQ(action("203.0.113.9"), Action::kUnresolved);
  EXPECT_EQ(table->gateway_of(find("203.0.113.9").id), (Via{.link = 0, .gateway = v6("fe80::1")}));
  EXPECT_EQ(find("2001:db8::9").macs.destination, kB);
}

TEST_F(RouteTableTest, NeighboursOfAConnectedSubnetBecomeHostRoutes) {
  table->set_neighbour(0, v4("10.0.0.2"), kA);
  table->set_neighbour(1, v4("10.0.0.3"), kB);  // not on the subnet's link
  table->set_route(net("10.0.0.0/24"), by(0, "", 0));
  table->set_route(net("10.0.0.1/32"),
                   {.action = Route::Action::kLocal, .paths = {{.link = 0, .gateway = {}}}});
  table->commit();
  EXPECT_EQ(find("10.0.0.2").macs.destination, kA);
  EXPECT_EQ(action("10.0.0.3"), Action::kUnresolved);
  EXPECT_EQ(table->gateway_of(find("10.0.0.3").id), (Via{.link = 0, .gateway = {}}));
  EXPECT_EQ(action("10.0.0.1"), Action::kLocal);
  table->set_neighbour(0, v4("10.0.0.2"), kB);
  table->set_neighbour(0, v4("10.0.0.4"), kA);
  table->commit();
  EXPECT_EQ(find("10.0.0.2").macs.destination, kB);
  EXPECT_EQ(find("10.0.0.4").macs.destination, kA);
  // A longer route takes the neighbour's address, and gives it back.
  table->set_route(net("10.0.0.4/30"), by(1, "192.0.2.1"));
  table->commit();
  EXPECT_EQ(find("10.0.0.4").link, 1);
  EXPECT_EQ(find("10.0.0.2").link, 0);
  table->erase_route(net("10.0.0.4/30"), 20, 0);
  table->commit();
  EXPECT_EQ(find("10.0.0.4").macs.destination, kA);
  table->erase_route(net("10.0.0.0/24"), 0, 0);
  table->commit();
  EXPECT_EQ(action("10.0.0.2"), Action::kNoRoute);
}

TEST_F(RouteTableTest, RoutesThatDrop) {
  using A = Route::Action;
  table->set_route(net("0.0.0.0/0"), by(0, "192.0.2.1"));
  table->set_route(net("10.0.0.0/8"), {.action = A::kBlackhole, .distance = 1, .paths = {}});
  table->set_route(net("10.1.0.0/16"), {.action = A::kUnreachable, .distance = 1, .paths = {}});
  table->set_route(net("::/0"), {.action = A::kProhibit, .distance = 1, .paths = {}});
  table->commit();
  EXPECT_EQ(action("9.9.9.9"), Action::kUnresolved);
  EXPECT_EQ(action("10.0.0.1"), Action::kBlackhole);
  EXPECT_EQ(action("10.1.0.1"), Action::kUnreachable);
  EXPECT_EQ(action("fd00::1"), Action::kProhibit);
}

TEST_F(RouteTableTest, RoutesOverUnknownLinksAreCountedAndLeaveNothing) {
  table->set_route(net("10.0.0.0/8"), by(0, "192.0.2.1"));
  table->set_route(net("10.0.0.0/8"), by(2, "192.0.2.1"));
  table->set_neighbour(2, v4("192.0.2.1"), kA);
  table->commit();
  EXPECT_EQ(action("10.0.0.1"), Action::kNoRoute);
  EXPECT_EQ(table->stats().invalid, 2U);
}

TEST_F(RouteTableTest, AFullTableRefusesAndTakesLaterWhatWaits) {
  make({.ipv4 = 4, .ipv6 = 4, .ipv4_groups = 8, .ipv6_groups = 64});
  for (const char* p : {"10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8", "13.0.0.0/8"})
    table->set_route(net(p), by(0, "192.0.2.1"));
  table->commit();
  EXPECT_EQ(table->stats().refused, 0U);
  table->set_route(net("14.0.0.0/8"), by(1, "192.0.2.2"));
  table->set_route(net("12.0.0.0/8"), by(1, "192.0.2.2"));  // a replacement needs no room
  table->commit();
  EXPECT_EQ(table->stats().refused, 1U);
  EXPECT_EQ(table->stats().waiting, 1U);
  EXPECT_EQ(action("14.0.0.1"), Action::kNoRoute);
  EXPECT_EQ(find("12.0.0.1").link, 1);
  EXPECT_EQ(action("10.0.0.1"), Action::kUnresolved);
  size_t shown = 0, in_fib = 0;
  table->for_each([&](const Prefix&, const Route&, bool in) {
    ++shown;
    in_fib += in;
  });
  EXPECT_EQ(shown, 5U);
  EXPECT_EQ(in_fib, 4U);
  table->erase_route(net("11.0.0.0/8"), 20, 0);
  table->commit();
  EXPECT_EQ(find("14.0.0.1").link, 1);
  EXPECT_EQ(table->stats().waiting, 0U);
  table->commit();
  EXPECT_EQ(table->stats().differences, 0U);
}

// The library's count of free groups drifts if a prefix goes before those that it covers.
TEST_F(RouteTableTest, KeepsRoomForIpv6AfterPrefixesGoInAnyOrder) {
  make({.ipv4 = 4, .ipv6 = 100, .ipv4_groups = 8, .ipv6_groups = 40});
  for (int round = 0; round < 50; ++round) {
    table->set_route(net("2001:db8::/32"), by(0, "fe80::1"));
    table->set_route(net("2001:db8:1::/48"), by(0, "fe80::2"));
    table->set_route(net("2001:db8:1:1::/64"), by(0, "fe80::3"));
    table->commit();
    ASSERT_EQ(table->stats().waiting, 0U) << "round " << round;
    ASSERT_EQ(table->gateway_of(find("2001:db8:1:1::1").id).gateway,
              decltype(Via::gateway)(v6("fe80::3")));
    for (const char* p : {"2001:db8::/32", "2001:db8:1::/48", "2001:db8:1:1::/64"}) {
      table->erase_route(net(p), 20, 0);
      table->commit();
    }
    ASSERT_EQ(action("2001:db8:1:1::1"), Action::kNoRoute);
  }
  EXPECT_EQ(table->stats().differences, 0U);
}

TEST_F(RouteTableTest, ForgetsWhatNothingRefersTo) {
  const RouteTable::Stats before = table->stats();
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 500; ++i) {
      Route r = by(0, "192.0.2.1");
      r.paths.push_back({.link = 1, .gateway = v4("10.0.0.0") + i % 50});
      table->set_route(config::Ipv4Prefix{0x30000000 + (i << 8), 24}, r);
    }
    table->commit();
    EXPECT_EQ(table->stats().groups, 50U);
    for (uint32_t i = 0; i < 500; ++i)
      table->erase_route(config::Ipv4Prefix{0x30000000 + (i << 8), 24}, 20, 0);
    table->commit();
    EXPECT_EQ(table->stats().hops, before.hops);
    EXPECT_EQ(table->stats().groups, 0U);
    EXPECT_EQ(table->stats().ipv4, 0U);
  }
}

TEST_F(RouteTableTest, AnMtuReachesAllNextHopsOfItsLink) {
  table->set_route(net("10.0.0.0/8"), by(0, "192.0.2.1"));
  table->commit();
  table->set_mtu(0, 1280);
  table->commit();
  EXPECT_EQ(find("10.0.0.1").mtu, 1280);
}

// A worker that never reports quiescence would make the second commit wait: the first copy is
// unchanged until it does.
TEST_F(RouteTableTest, TheCopyThatAWorkerReadsStaysAsItIs) {
  table->set_route(net("10.0.0.0/8"), by(0, "192.0.2.1"));
  table->commit();
  Quiescence& q = table->quiescence();
  q.online(0);
  const NextHop& held = find("10.0.0.1");
  table->set_route(net("10.0.0.0/8"), by(1, "192.0.2.1"));
  table->commit();
  EXPECT_EQ(find("10.0.0.1").link, 1);
  std::atomic<bool> done{false};
  std::thread control([&] {
    table->set_route(net("10.0.0.0/8"),
                     {.action = Route::Action::kBlackhole, .distance = 20, .paths = {}});
    table->commit();
    done = true;
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(held.action, Action::kUnresolved);
    EXPECT_EQ(held.link, 0);
    EXPECT_FALSE(done);
    std::this_thread::yield();
  }
  while (!done) q.quiescent(0);
  control.join();
  EXPECT_EQ(action("10.0.0.1"), Action::kBlackhole);
}

// As at a barrier between two polls, where a worker cannot report quiescence.
TEST_F(RouteTableTest, DoesNotWaitForAWorkerThatIsOffline) {
  Quiescence& q = table->quiescence();
  q.online(0);
  q.quiescent(0);
  table->set_route(net("10.0.0.0/8"), by(0, "192.0.2.1"));
  table->commit();
  q.offline(0);
  for (const size_t link : {1, 0, 1}) {
    table->set_route(net("10.0.0.0/8"), by(link, "192.0.2.1"));
    table->commit();
    EXPECT_EQ(find("10.0.0.1").link, link);
  }
}

}  // namespace
}  // namespace turnpike::router
