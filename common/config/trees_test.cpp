// SPDX-License-Identifier: BSD-3-Clause
// Multicast trees: their links in valid files, and each mistake at its place.
#include <algorithm>

#include "common/config/address.h"
#include "common/config/marked_file.h"
#include "common/config/path.h"

namespace turnpike::config {
namespace {

// Two ways from a to d, of which the shorter delay is by c.
constexpr std::string_view kDiamond = R"(hosts: {s: {budget: 1 $/s}, r1: {}, r2: {}, r3: {}}
routers: {a: {}, b: {}, c: {}, d: {}}
links:
  sa: {ends: [s, a], rate: 1 Gbps}
  ab: {ends: [a, b], rate: 1 Gbps, delay: 2 ms}
  ac: {ends: [a, c], rate: 1 Gbps, delay: 1 ms}
  bd: {ends: [b, d], rate: 1 Gbps}
  cd: {ends: [c, d], rate: 1 Gbps}
  br1: {ends: [b, r1], rate: 1 Gbps}
  dr2: {ends: [d, r2], rate: 1 Gbps, delay: 30 ms}
  dr3: {ends: [d, r3], rate: 1 Gbps}
)";

Topology diamond(const std::string& receivers) {
  return expect_right(std::string(kDiamond) + "trees: {t: {root: s, receivers: " + receivers +
                      "}}\ntraffic: {flows: {f: {from: s, to: t}}}\n");
}

/// "a<sa: ab ac" for each router: its upstream link and its children.
std::string text_of(const Topology& t) {
  std::string out;
  for (const Branch& b : t.trees.at(0).branches) {
    out += (out.empty() ? "" : ", ") + t.routers[b.router].name + "<" + t.links[b.upstream].name;
    for (const size_t link : b.children) out += " " + t.links[link].name;
  }
  return out;
}

TEST(Trees, BranchesFollowTheRoutes) {
  EXPECT_EQ(text_of(diamond("r1")), "a<sa ab, b<ab br1");
  EXPECT_EQ(text_of(diamond("[r1, r2, r3]")), "a<sa ab ac, b<ab br1, c<ac cd, d<cd dr2 dr3");
}

TEST(Trees, EveryRouterHasOneUpstreamLink) {
  // Packets to r3 go by b, those to r2 by c: the paths meet again at d.
  std::string text(kDiamond);
  text.replace(text.find("a: {}"), 5, "a: {routes: {prefix: 10.0.7.0/24, via: ab}}");
  const Topology t = expect_right(text +
                                  "trees: {t: {root: s, receivers: [r2, r3]}}\n"
                                  "traffic: {flows: {f: {from: s, to: t}}}\n");
  EXPECT_EQ(path_between(t, 0, 3)[1].link, 1U);  // by ab
  EXPECT_EQ(text_of(t), "a<sa ac, c<ac cd, d<cd dr2 dr3");
}

TEST(Trees, AFlowCrossesEachLinkOnce) {
  const Topology t = diamond("[r1, r2, r3]");
  const Flow& flow = t.flows.at(0);
  EXPECT_EQ(flow.tree, 0U);
  EXPECT_EQ(t.destination_name(t.destination_of(flow)), "t");
  EXPECT_EQ(receivers_of(t, flow), (std::vector<size_t>{1, 2, 3}));
  std::vector<size_t> links;
  for (const Hop& hop : hops_of(t, flow)) links.push_back(hop.link);
  std::ranges::sort(links);
  EXPECT_EQ(links, (std::vector<size_t>{0, 1, 2, 4, 5, 6, 7}));  // all but bd
}

TEST(Trees, BuffersHoldTheLongestRoundTrip) {
  const Topology t = diamond("[r1, r2]");
  // 62 ms at 1 Gbps on the links that r2's packets share, 4 ms on the other branch.
  EXPECT_EQ(t.links[2].directions[0].buffer, Bytes(7'750'000));
  EXPECT_EQ(t.links[1].directions[0].buffer, Bytes(500'000));
}

TEST(Trees, AddressesAreGivenOrAssigned) {
  const Topology t = expect_right(
      changed("traffic",
              "trees:\n"
              "  t1: {root: alice, receivers: bob}\n"
              "  t2: {root: alice, receivers: bob, group: 239.1.0.1}\n"
              "  t3: {root: alice, receivers: [bob], group: [\"ff3e::8000:3\", 232.1.2.3]}\n"
              "traffic"));
  std::vector<std::string> all;
  for (const Tree& tree : t.trees) all.push_back(ipv4_text(tree.ipv4) + " " + ipv6_text(tree.ipv6));
  EXPECT_EQ(all, (std::vector<std::string>{"239.1.0.2 ff3e::8000:1", "239.1.0.1 ff3e::8000:2",
                                           "232.1.2.3 ff3e::8000:3"}));
}

TEST(Trees, MistakesAtTheirPlaces) {
  const auto tree = [](const std::string& keys) {
    return changed("traffic", "trees:\n  ^video: {" + keys + "}\ntraffic");
  };
  const auto value = [](const std::string& keys) {
    return changed("traffic", "trees:\n  video: {" + keys + "}\ntraffic");
  };
  expect_mistakes(tree("receivers: bob"), {"missing key 'root'"});
  expect_mistakes(tree("root: alice"), {"missing key 'receivers'"});
  expect_mistakes(value("root: ^gate, receivers: bob"), {"'gate' is a router"});
  expect_mistakes(value("root: alice, receivers: [bob, ^bob]"), {"listed twice"});
  expect_mistakes(value("root: alice, receivers: [bob, ^alice]"), {"'alice' is the root"});
  expect_mistakes(value("root: alice, receivers: ^carol"), {"there is no host 'carol'"});
  expect_mistakes(value("root: alice, receivers: bob, group: ^10.0.0.1"), {"not a multicast"});
  expect_mistakes(value("root: alice, receivers: bob, group: ^224.0.0.251"), {"link scope"});
  expect_mistakes(value("root: alice, receivers: bob, group: ^\"ff02::1\""), {"link scope"});
  expect_mistakes(value("root: alice, receivers: bob, group: [239.1.1.1, ^239.1.1.2]"),
                  {"a second IPv4 address"});
  expect_mistakes(value("root: alice, receivers: bob, group: 239.1.1.1}\n"
                        "  film: {root: alice, receivers: bob, group: ^239.1.1.1"),
                  {"another tree has this address"});
  expect_mistakes(changed("traffic", "trees: {^bob: {root: alice, receivers: bob}}\ntraffic"),
                  {"the name of a node already"});
}

TEST(Trees, MistakesOfFlowsToThem) {
  const auto flow = [](const std::string& keys) {
    return changed("traffic:\n  flows:\n    one: {from: alice, to: bob}",
                   "trees: {video: {root: alice, receivers: bob}}\n"
                   "traffic:\n  flows:\n    one: {" +
                       keys + "}");
  };
  expect_right(flow("from: alice, to: video"));
  expect_mistakes(changed("traffic:\n  flows:\n    one: {from: alice, to: bob}",
                          "trees: {video: {root: bob, receivers: alice}}\n"
                          "traffic:\n  flows:\n    one: {from: ^alice, to: video}"),
                  {"not the root of 'video', 'bob'"});
  expect_mistakes(flow("from: alice, to: video, protocol: ^tcp"), {"a tree carries fcp, not tcp"});
  expect_mistakes(flow("from: ^video, to: bob"), {"'video' is a tree: only flows run to trees"});
  expect_mistakes(flow("from: alice, to: video, packet: ^1600 B"), {"more than the MTU"});
}

}  // namespace
}  // namespace turnpike::config
