// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/multicast_groups.h"

#include <gtest/gtest.h>

#include "common/config/address.h"

namespace turnpike::router {
namespace {

constexpr std::string_view kIgmp =
    "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"
    "1\tlo        :     1      V3\n"
    "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
    "7\tuplink0   :     2      V3\n"
    "\t\t\t\t050000E0     1 0:00000000\t\t0\n"
    "\t\t\t\t0102EFEF     1 0:00000000\t\t0\n"
    "\t\t\t\tnothing\n";
constexpr std::string_view kIgmp6 =
    "1    lo              ff020000000000000000000000000001     1 0000000C 0\n"
    "7    uplink0         ff0200000000000000000001ff000001     1 00000004 0\n"
    "7    uplink0         ff05000000000000000000000000xx02     1 00000004 0\n"
    "8    to-east         ff050000000000000000000000000002     1 00000004 0\n"
    "8    to-east         ff0500\n";

TEST(MulticastGroups, AreReadByInterface) {
  const std::vector<std::string> interfaces{"to-east", "uplink0", "none"};
  const JoinedGroups g = parse_groups(kIgmp, kIgmp6, interfaces);
  ASSERT_EQ(g.links.size(), 3U);
  EXPECT_EQ(g.links[1].ipv4,
            (std::vector{*config::parse_ipv4("224.0.0.5"), *config::parse_ipv4("239.239.2.1")}));
  EXPECT_EQ(g.links[1].ipv6, std::vector{*config::parse_ipv6("ff02::1:ff00:1")});
  EXPECT_EQ(g.links[0].ipv6, std::vector{*config::parse_ipv6("ff05::2")});
  EXPECT_TRUE(g.links[0].has(*config::parse_ipv6("ff05::2")));
  EXPECT_FALSE(g.links[1].has(*config::parse_ipv6("ff05::2")));
  EXPECT_EQ(g.links[2], JoinedGroups::OnLink());
}

TEST(MulticastGroups, OfNoFileAreNone) {
  const std::vector<std::string> interfaces{"uplink0"};
  EXPECT_EQ(parse_groups("", "", interfaces).links, std::vector<JoinedGroups::OnLink>(1));
  EXPECT_EQ(parse_groups("\t\t050000E0\n", "7", interfaces).links,
            std::vector<JoinedGroups::OnLink>(1));
}

TEST(MulticastGroups, OfThisMachineCanBeRead) {
  const auto groups = MulticastGroups::open({"lo"}, "");
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->read().links.size(), 1U);
  EXPECT_FALSE(MulticastGroups::open({"lo"}, "no-such-namespace"));
}

}  // namespace
}  // namespace turnpike::router
