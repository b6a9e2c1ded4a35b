// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/kernel_state.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "router/linux/route_map.h"
#include "tests/support/netlink_messages.h"

namespace turnpike::router {
namespace {

using namespace test_messages;

class Recorder final : public KernelListener {
 public:
  std::map<size_t, LinkStatus> links;
  void link_changed(size_t link, const LinkStatus& status) override { links[link] = status; }
};

constexpr int kFirst = 7, kSecond = 8, kForeign = 9;

/// Interfaces 7 and 8 are links 0 and 1 of the router; 9 is none.
struct World {
  RouteMap sink;
  Recorder listener;
  KernelState state{{.sink = sink, .listener = listener, .interfaces = {{"p0", 0}, {"p1", 1}}}};

  World() {
    apply(
        {link_message(kFirst, "p0"), link_message(kSecond, "p1"), link_message(kForeign, "eth9")});
  }
  void apply(const std::vector<Message>& messages) {
    for (const Message& m : messages) {
      ASSERT_FALSE(std::holds_alternative<MalformedMessage>(m));
      state.apply(m);
    }
    state.commit();
  }
  void dump(DumpKind kind, const std::vector<Message>& messages, bool complete = true) {
    state.begin(kind);
    for (const Message& m : messages) state.apply_dumped(m);
    state.end(kind, complete);
    state.commit();
  }
  /// "distance 20 metric 0 via ...", or empty.
  [[nodiscard]] std::string held(const std::string& prefix) const {
    std::string text;
    for (const auto& [key, r] : sink.routes) {
      if (to_text(key.prefix) != prefix) continue;
      text += to_text(r, [](size_t link) { return "p" + std::to_string(link); });
    }
    return text;
  }
};

TEST(KernelState, FollowsTheKernelsChoiceByMetric) {
  World w;
  w.apply({route({.prefix = "10.0.0.0/8", .hops = {{kFirst, "10.1.0.2"}}, .metric = 20}),
           route({.prefix = "10.0.0.0/8",
                  .hops = {{kSecond, "10.2.0.2"}},
                  .metric = 30,
                  .protocol = RTPROT_STATIC})});
  EXPECT_EQ(w.held("10.0.0.0/8"), "forward distance 20 metric 20 via 10.1.0.2 dev p0 weight 1");
  w.apply({route({.prefix = "10.0.0.0/8",
                  .hops = {{kFirst, "10.1.0.2"}},
                  .metric = 20,
                  .message = RTM_DELROUTE})});
  EXPECT_EQ(w.held("10.0.0.0/8"), "forward distance 1 metric 30 via 10.2.0.2 dev p1 weight 1");
}

TEST(KernelState, AddressOfTheMachineIsLocalOnAnyInterface) {
  World w;
  w.apply({route({.prefix = "10.9.9.9/32",
                  .hops = {{kForeign}},
                  .protocol = RTPROT_KERNEL,
                  .type = RTN_LOCAL,
                  .table = RT_TABLE_LOCAL}),
           route({.prefix = "127.0.0.1/32",
                  .hops = {{kForeign}},
                  .type = RTN_LOCAL,
                  .table = RT_TABLE_LOCAL}),
           route({.prefix = "fe80::9/128",
                  .hops = {{kForeign}},
                  .type = RTN_LOCAL,
                  .table = RT_TABLE_LOCAL}),
           route({.prefix = "fe80::7/128",
                  .hops = {{kFirst}},
                  .type = RTN_LOCAL,
                  .table = RT_TABLE_LOCAL})});
  EXPECT_EQ(w.held("10.9.9.9/32"), "local distance 0 metric 0");
  EXPECT_EQ(w.held("127.0.0.1/32") + w.held("fe80::9/128"), "");
  EXPECT_EQ(w.held("fe80::7/128"), "local distance 0 metric 0");
}

TEST(KernelState, CountsWhyRoutesAreNotInstalled) {
  World w;
  w.apply({route({.prefix = "10.1.0.0/16", .hops = {{kForeign, "192.0.2.1"}}}),
           route({.prefix = "10.2.0.0/16", .hops = {{kFirst, "10.1.0.2"}}, .table = 100}),
           route({.prefix = "fe80::/64", .hops = {{kFirst}}}),
           route({.prefix = "ff00::/8", .hops = {{kFirst}}, .type = RTN_MULTICAST}),
           route({.prefix = "10.3.0.0/16", .type = RTN_THROW}),
           route({.prefix = "10.4.0.0/16", .nexthop = 77})});
  const RouteCounts& c = w.state.routes();
  const auto held = [&](RouteStatus s) { return c.held[static_cast<size_t>(s)]; };
  const auto rejected = [&](RejectedRoute r) { return c.rejected[static_cast<size_t>(r)]; };
  EXPECT_EQ(held(RouteStatus::kForeignInterface), 1U);
  EXPECT_EQ(held(RouteStatus::kOtherType), 1U);
  EXPECT_EQ(held(RouteStatus::kNoNexthop), 1U);
  EXPECT_EQ(rejected(RejectedRoute::kOtherTable), 1U);
  EXPECT_EQ(rejected(RejectedRoute::kLinkLocal), 1U);
  EXPECT_EQ(rejected(RejectedRoute::kMulticast), 1U);
  EXPECT_TRUE(w.sink.routes.empty());
}

TEST(KernelState, PurgesWhatVanishesWithoutAMessage) {
  World w;
  w.apply({own_address(RTM_NEWADDR, kFirst, "10.1.0.1", 24),
           route({.prefix = "10.3.0.0/16", .hops = {{kFirst, "10.1.0.2"}}}),
           route({.prefix = "10.4.0.0/16", .hops = {{kFirst, "10.1.0.2"}, {kSecond, "10.2.0.2"}}}),
           nexthop(1, kFirst, "10.1.0.3"), nexthop(2, kSecond, "10.2.0.3"),
           nexthop_group(10, {{1, 2}, {2, 3}}), route({.prefix = "10.5.0.0/16", .nexthop = 10}),
           route({.prefix = "10.6.0.0/16", .nexthop = 1})});
  EXPECT_EQ(w.held("10.5.0.0/16"),
            "forward distance 20 metric 0 via 10.1.0.3 dev p0 weight 2,"
            " via 10.2.0.3 dev p1 weight 3");
  w.state.take_doubt();
  w.apply({link_message(kFirst, "p0", 0)});
  EXPECT_EQ(w.held("10.3.0.0/16") + w.held("10.6.0.0/16"), "");
  EXPECT_EQ(w.held("10.4.0.0/16"), "forward distance 20 metric 0 via 10.2.0.2 dev p1 weight 1");
  EXPECT_EQ(w.held("10.5.0.0/16"), "forward distance 20 metric 0 via 10.2.0.3 dev p1 weight 1");
  EXPECT_EQ(w.state.take_doubt(), ResyncReason::kLinkDown);
  // The kernel has not kept the route until the link is up again.
  w.apply({link_message(kFirst, "p0")});
  EXPECT_EQ(w.held("10.3.0.0/16"), "");
  w.apply({removed_nexthop(2)});
  EXPECT_EQ(w.held("10.5.0.0/16"), "");
  EXPECT_EQ(w.state.take_doubt(), ResyncReason::kNexthopRemoved);
}

TEST(KernelState, PurgesRoutesOfAnAddress) {
  World w;
  w.apply({own_address(RTM_NEWADDR, kFirst, "10.1.0.1", 24),
           route({.prefix = "10.3.0.0/16", .hops = {{kFirst, "10.1.0.2"}}}),
           route({.prefix = "2001:db8::/48", .hops = {{kFirst, "fe80::2"}}})});
  w.state.take_doubt();
  w.apply({own_address(RTM_DELADDR, kFirst, "10.1.0.1", 24)});
  EXPECT_EQ(w.held("10.3.0.0/16"), "");
  EXPECT_NE(w.held("2001:db8::/48"), "");
  EXPECT_EQ(w.state.take_doubt(), ResyncReason::kAddressChanged);
}

TEST(KernelState, LossOfCarrierIsNoRemoval) {
  World w;
  w.apply({route({.prefix = "10.3.0.0/16", .hops = {{kFirst, "10.1.0.2"}}}),
           link_message(kFirst, "p0", IFF_UP)});
  EXPECT_EQ(w.held("10.3.0.0/16"), "");
  w.apply({link_message(kFirst, "p0")});
  EXPECT_NE(w.held("10.3.0.0/16"), "");
}

TEST(KernelState, ADumpShowsLossOfCarrierBeforeItsNexthopsAreGone) {
  World w;
  const std::vector<Message> objects{nexthop(1, kFirst, "10.1.0.3"),
                                     nexthop(2, kSecond, "10.2.0.3"),
                                     nexthop_group(10, {{1, 1}, {2, 1}})};
  w.apply(objects);
  w.apply({route({.prefix = "10.5.0.0/16", .nexthop = 10})});
  w.dump(DumpKind::kLinks, {link_message(kFirst, "p0"), link_message(kSecond, "p1", IFF_UP),
                            link_message(kForeign, "eth9")});
  w.dump(DumpKind::kNexthops, objects);  // the kernel removes number 2 only now, without a message
  w.state.take_doubt();
  w.apply({link_message(kSecond, "p1", IFF_UP)});
  EXPECT_EQ(w.state.take_doubt(), ResyncReason::kLinkDown);
  // A routing daemon makes it again, but not a member of the group.
  w.apply({link_message(kSecond, "p1"), nexthop(2, kSecond, "10.2.0.3")});
  EXPECT_EQ(w.held("10.5.0.0/16"), "forward distance 20 metric 0 via 10.1.0.3 dev p0 weight 1");
}

TEST(KernelState, AppendedNextHopsOfOldAndNewKernels) {
  for (const bool whole : {false, true}) {
    World w;
    w.apply({route({.prefix = "2001:db8::/48", .hops = {{kFirst, "fe80::1"}}}),
             route({.prefix = "2001:db8::/48",
                    .hops = whole ? std::vector<RawHop>{{kSecond, "fe80::2"}, {kFirst, "fe80::1"}}
                                  : std::vector<RawHop>{{kSecond, "fe80::2"}},
                    .flags = NLM_F_CREATE | NLM_F_APPEND})});
    EXPECT_NE(w.held("2001:db8::/48").find("fe80::1"), std::string::npos);
    EXPECT_NE(w.held("2001:db8::/48").find("fe80::2"), std::string::npos);
    w.apply({route(
        {.prefix = "2001:db8::/48", .hops = {{kFirst, "fe80::1"}}, .message = RTM_DELROUTE})});
    EXPECT_EQ(w.held("2001:db8::/48"), "forward distance 20 metric 0 via fe80::2 dev p1 weight 1");
  }
}

TEST(KernelState, InterruptedDumpRemovesNothing) {
  World w;
  w.apply({route({.prefix = "10.3.0.0/16", .hops = {{kFirst, "10.1.0.2"}}})});
  w.dump(DumpKind::kIpv4Routes, {}, false);
  EXPECT_NE(w.held("10.3.0.0/16"), "");
  w.dump(DumpKind::kIpv4Routes, {});
  EXPECT_EQ(w.held("10.3.0.0/16"), "");
}

TEST(KernelState, LinksAreReportedAndMayChange) {
  World w;
  EXPECT_EQ(w.listener.links[0].mtu, 1500U);
  w.apply({link_message(kFirst, "p0", IFF_UP, 9000)});
  EXPECT_EQ(w.listener.links[0].mtu, 9000U);
  EXPECT_FALSE(w.listener.links[0].carrier);
  w.apply({neighbour(kSecond, "10.2.0.2", NUD_REACHABLE),
           route({.prefix = "10.3.0.0/16", .hops = {{kSecond, "10.2.0.2"}}})});
  w.state.set_interfaces({{"p1", 5}});
  w.state.commit();
  EXPECT_EQ(w.held("10.3.0.0/16"), "forward distance 20 metric 0 via 10.2.0.2 dev p5 weight 1");
  EXPECT_TRUE(w.sink.neighbours.contains({5, config::parse_ipv4("10.2.0.2").value()}));
  EXPECT_EQ(w.sink.neighbours.size(), 1U);
  EXPECT_FALSE(w.listener.links[0].present);
  w.apply({removed_link(kSecond)});
  EXPECT_TRUE(w.sink.routes.empty() && w.sink.neighbours.empty());
}

TEST(KernelState, NeighboursThatFailedOrAreGroupsAreNone) {
  World w;
  w.apply({neighbour(kFirst, "10.1.0.2", NUD_STALE), neighbour(kFirst, "ff02::1", NUD_NOARP),
           neighbour(kForeign, "10.9.0.2", NUD_REACHABLE)});
  EXPECT_EQ(w.sink.neighbours.size(), 1U);
  const auto stale = w.state.take_stale();
  ASSERT_EQ(stale.size(), 1U) << "only one on a link";
  EXPECT_EQ(to_text(stale[0].address), "10.1.0.2");
  const uint64_t calls = w.sink.calls;
  w.apply({neighbour(kFirst, "10.1.0.2", NUD_REACHABLE)});
  EXPECT_EQ(w.sink.calls, calls) << "its MAC address is the same";
  w.apply({neighbour(kFirst, "10.1.0.2", NUD_REACHABLE, 9)});
  EXPECT_EQ(w.sink.neighbours.begin()->second[5], 9);
  w.apply({neighbour(kFirst, "10.1.0.2", NUD_FAILED)});
  EXPECT_TRUE(w.sink.neighbours.empty());
}

TEST(KernelState, CommitsOnlyChanges) {
  World w;
  const Message r = route({.prefix = "10.3.0.0/16", .hops = {{kFirst, "10.1.0.2"}}});
  w.apply({r});
  const uint64_t commits = w.sink.commits;
  w.apply({r});
  w.dump(DumpKind::kIpv4Routes, {r});
  EXPECT_EQ(w.sink.commits, commits);
}

// Few prefixes, metrics and next hops, so that random routes meet.
RawRoute any_route() {
  RawRoute r;
  r.prefix = *rc::gen::element<std::string>("10.1.0.0/16", "10.2.0.0/16", "2001:db8::/48");
  const bool v6 = r.prefix[0] == '2';
  const auto hop = [v6] {
    return RawHop{*rc::gen::element(kFirst, kSecond, kForeign),
                  *rc::gen::element<std::string>(v6 ? "fe80::1" : "10.9.0.1",
                                                 v6 ? "fe80::2" : "10.9.0.2", "")};
  };
  const int hops = *rc::gen::inRange(1, 4);
  for (int i = 0; i < hops; ++i) r.hops.push_back(hop());
  r.metric = *rc::gen::element(0U, 5U);
  r.nexthop = *rc::gen::element(0U, 0U, 0U, 1U, 10U);
  r.flags = *rc::gen::element<uint16_t>(NLM_F_CREATE, NLM_F_REPLACE, NLM_F_APPEND);
  return r;
}

Message any_change() {
  switch (*rc::gen::inRange(0, 10)) {
    case 0:
      return link_message(kFirst, "p0",
                          *rc::gen::element(0U, 1U, unsigned{IFF_UP} | unsigned{IFF_LOWER_UP}));
    case 1:
      return *rc::gen::element(true, false) ? nexthop(1, kFirst, "10.9.0.3") : removed_nexthop(1);
    case 2:
      return nexthop_group(10, {{1, 1}, {2, 2}});
    case 3:
      return nexthop(2, kSecond, "fe80::3");
    case 4: {
      RawRoute r = any_route();
      r.message = RTM_DELROUTE;
      return route(r);
    }
    default:
      return route(any_route());
  }
}

RC_GTEST_PROP(KernelState, DumpHealsAnyState, ()) {
  World w, fresh;
  const int changes = *rc::gen::inRange(0, 30);
  for (int i = 0; i < changes; ++i) w.apply({any_change()});
  std::vector<Message> links{link_message(kFirst, "p0"), link_message(kSecond, "p1")};
  std::vector<Message> objects{nexthop(1, kFirst, "10.9.0.3")};
  std::vector<Message> v4, v6;
  const int routes = *rc::gen::inRange(0, 8);
  for (int i = 0; i < routes; ++i) {
    const RawRoute r = any_route();
    (r.prefix[0] == '2' ? v6 : v4).push_back(route(r));
  }
  for (World* each : {&w, &fresh}) {
    each->dump(DumpKind::kLinks, links);
    each->dump(DumpKind::kNexthops, objects);
    each->dump(DumpKind::kIpv4Routes, v4);
    each->dump(DumpKind::kIpv6Routes, v6);
  }
  RC_ASSERT(w.sink.routes.size() == fresh.sink.routes.size());
  for (const auto& [key, r] : fresh.sink.routes) {
    RC_ASSERT(w.sink.routes.contains(key));
    RC_ASSERT(same(w.sink.routes.at(key), r));
  }
  RC_ASSERT(w.state.routes().held == fresh.state.routes().held);
  RC_ASSERT(w.state.routes().ipv4 == fresh.state.routes().ipv4);
}

}  // namespace
}  // namespace turnpike::router
