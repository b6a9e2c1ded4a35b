// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/messages.h"

#include <gtest/gtest.h>

#include "tests/support/netlink_messages.h"

namespace turnpike::router {
namespace {

using namespace test_messages;

config::Ipv4 ipv4(const char* text) { return config::parse_ipv4(text).value(); }
config::Ipv6 ipv6(const char* text) { return config::parse_ipv6(text).value(); }

bool malformed(const Message& m) { return std::holds_alternative<MalformedMessage>(m); }
bool other(const Message& m) { return std::holds_alternative<OtherMessage>(m); }

TEST(Messages, LinkHasItsStateAndMtu) {
  const auto m = std::get<LinkMessage>(link_message(7, "port0", IFF_UP, 9000));
  EXPECT_EQ(m.interface, 7U);
  EXPECT_EQ(m.name, "port0");
  EXPECT_EQ(m.mtu, 9000U);
  EXPECT_TRUE(m.up);
  EXPECT_FALSE(m.carrier);
  EXPECT_TRUE(std::get<LinkMessage>(removed_link(7)).removed);
}

TEST(Messages, PortThatLeavesABridgeIsNoRemovedLink) {
  ifinfomsg h{};
  h.ifi_family = AF_BRIDGE;
  h.ifi_index = 7;
  EXPECT_TRUE(other(RawMessage(RTM_DELLINK, h).parse()));
}

TEST(Messages, OwnAddressBesideItsPeer) {
  ifaddrmsg h{};
  h.ifa_family = AF_INET;
  h.ifa_prefixlen = 32;
  for (const bool local_first : {true, false}) {
    RawMessage m(RTM_NEWADDR, h);
    if (local_first) m.put_address(IFA_LOCAL, "10.0.0.1");
    m.put_address(IFA_ADDRESS, "10.0.0.2");
    if (!local_first) m.put_address(IFA_LOCAL, "10.0.0.1");
    EXPECT_EQ(std::get<AddressMessage>(m.parse()).address, Address(ipv4("10.0.0.1")));
  }
}

TEST(Messages, NeighbourStates) {
  for (const uint16_t state :
       {NUD_REACHABLE, NUD_STALE, NUD_DELAY, NUD_PROBE, NUD_PERMANENT, NUD_NOARP}) {
    EXPECT_TRUE(std::get<NeighbourMessage>(neighbour(7, "10.0.0.2", state)).usable) << state;
  }
  for (const uint16_t state : {NUD_INCOMPLETE, NUD_FAILED, NUD_NONE}) {
    EXPECT_FALSE(std::get<NeighbourMessage>(neighbour(7, "fe80::2", state)).usable) << state;
  }
}

TEST(Messages, MultipathWithWeights) {
  const auto m = std::get<RouteMessage>(
      route({.prefix = "10.0.0.0/8", .hops = {{7, "10.1.0.2", 3}, {8, "10.2.0.2", 200}, {9}}}));
  ASSERT_EQ(m.hops.size(), 3U);
  EXPECT_EQ(m.hops[0], (Hop{7, ipv4("10.1.0.2"), 3}));
  EXPECT_EQ(m.hops[1], (Hop{8, ipv4("10.2.0.2"), 200}));
  EXPECT_EQ(m.hops[2], (Hop{9, {}, 1}));
}

TEST(Messages, Ipv4RouteThroughIpv6Gateway) {
  rtmsg h{};
  h.rtm_family = AF_INET;
  h.rtm_type = RTN_UNICAST;
  RawMessage m(RTM_NEWROUTE, h);
  std::vector<uint8_t> via{AF_INET6, 0};
  const config::Ipv6 gateway = ipv6("fe80::2");
  via.insert(via.end(), gateway.begin(), gateway.end());
  m.put(RTA_OIF, 7).put_bytes(RTA_VIA, via);
  const auto parsed = std::get<RouteMessage>(m.parse());
  ASSERT_EQ(parsed.hops.size(), 1U);
  EXPECT_EQ(parsed.hops[0].gateway, Gateway(gateway));
}

TEST(Messages, HostBitsAndWideTables) {
  rtmsg h{};
  h.rtm_family = AF_INET;
  h.rtm_dst_len = 24;
  h.rtm_table = RT_TABLE_COMPAT;
  const auto m = std::get<RouteMessage>(
      RawMessage(RTM_NEWROUTE, h).put_address(RTA_DST, "10.0.0.9").put(RTA_TABLE, 70000).parse());
  EXPECT_EQ(m.table, 70000U);
  EXPECT_EQ(std::get<config::Ipv4Prefix>(m.prefix).address, ipv4("10.0.0.0"));
}

TEST(Messages, NexthopObjectsTakePrecedenceOverTheirCopies) {
  const auto m = std::get<RouteMessage>(
      route({.prefix = "10.0.0.0/8", .hops = {{7, "10.1.0.2"}}, .nexthop = 5}));
  EXPECT_EQ(m.nexthop, 5U);
  EXPECT_TRUE(m.hops.empty());
}

TEST(Messages, GroupsWithWeightsOfTwoBytes) {
  const auto m = std::get<NexthopMessage>(nexthop_group(9, {{1, 1}, {2, 255}}));
  EXPECT_EQ(m.group[0], (NexthopMessage::Member{1, 1}));
  EXPECT_EQ(m.group[1], (NexthopMessage::Member{2, 255}));
  // Linux 6.12: the byte after the weight is its upper one.
  const std::vector<uint8_t> wide{1, 0, 0, 0, 0x34, 0x12, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 0, 0};
  const auto w = std::get<NexthopMessage>(
      RawMessage(RTM_NEWNEXTHOP, nhmsg{}).put(NHA_ID, 9).put_bytes(NHA_GROUP, wide).parse());
  EXPECT_EQ(w.group[0].weight, 0x1235);
  EXPECT_EQ(w.group[1].weight, 0xffff);  // never 0
}

TEST(Messages, AttributesThatAreTooShortAreErrors) {
  rtmsg h{};
  h.rtm_family = AF_INET6;
  h.rtm_dst_len = 64;
  EXPECT_TRUE(malformed(RawMessage(RTM_NEWROUTE, h).parse())) << "no destination";
  EXPECT_TRUE(malformed(RawMessage(RTM_NEWROUTE, h).put_bytes(RTA_DST, {1, 2, 3, 4}).parse()));
  h.rtm_dst_len = 129;
  EXPECT_TRUE(malformed(RawMessage(RTM_NEWROUTE, h).put_address(RTA_DST, "::").parse()));
  h.rtm_dst_len = 0;
  for (const uint16_t type : {RTA_PRIORITY, RTA_TABLE, RTA_OIF, RTA_NH_ID, RTA_GATEWAY, RTA_VIA}) {
    EXPECT_TRUE(malformed(RawMessage(RTM_NEWROUTE, h).put_bytes(type, {1}).parse())) << type;
  }
  // A next hop that is longer than its attribute, and one of no length.
  std::vector<uint8_t> hops = multipath({{7, "fe80::1"}});
  for (const uint8_t length : {hops.size() + 1, size_t{0}, size_t{7}}) {
    hops[0] = length;
    EXPECT_TRUE(malformed(RawMessage(RTM_NEWROUTE, h).put_bytes(RTA_MULTIPATH, hops).parse()));
  }
}

TEST(Messages, UnknownAttributesAndTypesAreSkipped) {
  rtmsg h{};
  h.rtm_family = AF_INET;
  EXPECT_TRUE(std::holds_alternative<RouteMessage>(
      RawMessage(RTM_NEWROUTE, h).put_bytes(4000, {1, 2, 3}).put_flag(4001).parse()));
  h.rtm_family = AF_MPLS;
  EXPECT_TRUE(other(RawMessage(RTM_NEWROUTE, h).parse()));
  EXPECT_TRUE(other(RawMessage(RTM_NEWRULE, h).parse()));
}

TEST(Messages, EveryPrefixOfAMessageIsReadWithinItsBounds) {
  rtmsg h{};
  h.rtm_family = AF_INET6;
  RawMessage m(RTM_NEWROUTE, h);
  m.put(RTA_PRIORITY, 5).put_bytes(RTA_MULTIPATH, multipath({{7, "fe80::1"}, {8, "fe80::2"}}));
  for (uint32_t length = sizeof(nlmsghdr); length <= m.length(); ++length) {
    const Message parsed = m.parse_first(length);  // sanitizers check the reads
    EXPECT_EQ(malformed(parsed), length < sizeof(nlmsghdr) + sizeof(rtmsg)) << length;
  }
}

}  // namespace
}  // namespace turnpike::router
