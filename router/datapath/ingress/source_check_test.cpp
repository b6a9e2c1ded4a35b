// SPDX-License-Identifier: BSD-3-Clause
// Which source addresses each check accepts on the left link.
#include "router/datapath/ingress/source_check.h"

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "tests/support/router_world.h"

namespace turnpike::router {
namespace {

using config::SourceCheck;

config::Topology checked(SourceCheck check) {
  config::Topology t = test::topology();
  t.links[test::kLeft].directions[1].source_check = check;
  return t;
}

bool forwards(SourceCheck check, const test::Frame& frame) {
  test::World world(1, checked(check));
  world.arrive(test::kLeft, frame);
  world.poll(world.now);
  const bool dropped = world.drops(DropReason::kSourceCheck) == 1;
  world.run_until(world.now + 1_s);
  EXPECT_EQ(world.sent(test::kRight).empty(), dropped);
  return !dropped;
}

TEST(SourceCheck, ComparesTheRouteToTheSource) {
  const auto from = [](std::string_view source) { return test::v4({.source = source}); };
  struct Case {
    std::string_view source;
    bool loose, strict;
  };
  for (const auto& [source, loose, strict] : {
           Case{"10.0.1.2", true, true},     // the link's neighbour
           Case{"10.0.1.77", true, true},    // its subnet
           Case{"10.0.3.2", true, false},    // another link's
           Case{"172.16.1.1", true, false},  // a route by another link
           Case{"192.0.2.1", false, false},  // no route
           Case{"10.0.1.255", false, false}  // a broadcast address
       }) {
    SCOPED_TRACE(source);
    EXPECT_TRUE(forwards(SourceCheck::kOff, from(source)));
    EXPECT_EQ(forwards(SourceCheck::kLoose, from(source)), loose);
    EXPECT_EQ(forwards(SourceCheck::kStrict, from(source)), strict);
    EXPECT_EQ(forwards(SourceCheck::kFeasible, from(source)), strict) << "no path but one";
  }
  EXPECT_TRUE(forwards(SourceCheck::kStrict, test::v6({.source = "fd00:1::2"})));
  EXPECT_FALSE(forwards(SourceCheck::kStrict, test::v6({.source = "fd00:3::2"})));
  EXPECT_TRUE(forwards(SourceCheck::kLoose, test::v6({.source = "fd01::1"})));
  EXPECT_FALSE(forwards(SourceCheck::kLoose, test::v6({.source = "2001:db8::1"})));
}

TEST(SourceCheck, FeasibleAcceptsEveryPathOfTheTopology) {
  // The left and the right link lead to a router `far`, which has a host of its own.
  config::Topology t = checked(SourceCheck::kFeasible);
  t.links[test::kLeft].ends[1].node = t.links[test::kRight].ends[1].node = "far";
  config::Link away = t.links[test::kNarrow];
  away.name = "away";
  away.ends[0].node = "far";
  away.ends[0].ipv4 = *config::parse_ipv4_prefix("10.0.9.1/24");
  away.ends[1].node = "distant";
  t.links.push_back(away);
  config::Router far;
  far.name = "far";
  far.links = {test::kLeft, test::kRight, t.links.size() - 1};
  t.routers.push_back(far);
  t.routers[0].ipv4_routes.push_back({*config::parse_ipv4_prefix("10.0.9.0/24"), test::kRight});
  for (const SourceCheck check : {SourceCheck::kFeasible, SourceCheck::kStrict}) {
    t.links[test::kLeft].directions[1].source_check = check;
    test::World world(1, t);
    world.arrive(test::kLeft, test::v4({.source = "10.0.9.2"}));  // routed to the right
    world.poll(world.now);
    EXPECT_EQ(world.drops(DropReason::kSourceCheck), check == SourceCheck::kStrict ? 1U : 0U);
    world.arrive(test::kLeft, test::v4({.source = "10.0.3.2"}));  // only by the narrow link
    world.poll(world.now);
    EXPECT_EQ(world.drops(DropReason::kSourceCheck), check == SourceCheck::kStrict ? 2U : 1U);
  }
}

}  // namespace
}  // namespace turnpike::router
