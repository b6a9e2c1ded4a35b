// SPDX-License-Identifier: BSD-3-Clause
// Gateways in the topology file: core links, peers, and the destinations behind them.
#include <algorithm>

#include "common/config/address.h"
#include "common/config/marked_file.h"

namespace turnpike::config {
namespace {

/// alice and carol are west's, bob is behind inner, which is behind east.
std::string two_sites(const std::string& gateways) {
  return R"(hosts: {alice: {budget: 1 $/s}, bob: {}, carol: {}}
routers: {west: {routes: [{prefix: 10.0.0.0/8, via: core}, {prefix: 'fd00::/8', via: core}]}, east: {}, inner: {}}
links:
  alice: {ends: [alice, west], rate: 1 Gbps}
  carol: {ends: [carol, west], rate: 1 Gbps}
  core: {ends: [west, east], rate: 100 Mbps, law: fcp, mtu: 1600}
  behind: {ends: [east, inner], rate: 1 Gbps}
  bob: {ends: [inner, bob], rate: 1 Gbps}
gateways:
)" + gateways;
}

template <class Prefix>
std::vector<std::string> texts(const std::vector<Prefix>& prefixes) {
  std::vector<std::string> out;
  out.reserve(prefixes.size());
  for (const auto& p : prefixes) out.push_back(prefix_text(p));
  std::ranges::sort(out);
  return out;
}

TEST(Gateways, KnowTheSubnetsBehindAPeerOfTheFile) {
  const Topology t = expect_right(two_sites(
      "  west: {core: core, peers: {east: {}}}\n  east: {core: core, peers: {west: {}}}\n"));
  ASSERT_EQ(t.gateways.size(), 2U);
  const Gateway& west = t.gateways[0];
  EXPECT_EQ(west.core, std::vector<size_t>{2});
  EXPECT_EQ(west.mtu.count(), 1600) << "that of the core link";
  EXPECT_EQ(west.law.protocol, "fcp");
  ASSERT_EQ(west.peers.size(), 1U);
  EXPECT_EQ(std::get<Ipv4>(west.peers[0].address), t.links[2].ends[1].ipv4.address);
  const auto subnet = [&](size_t link) { return prefix_text(network(t.links[link].ends[0].ipv4)); };
  std::vector<std::string> behind{subnet(3), subnet(4)};
  std::ranges::sort(behind);
  EXPECT_EQ(texts(west.peers[0].ipv4), behind);
  EXPECT_EQ(west.peers[0].ipv6.size(), 2U);
  EXPECT_EQ(texts(t.gateways[1].peers[0].ipv4).size(), 2U);
}

TEST(Gateways, TakeAPeerThatTheFileDoesNotHave) {
  const Topology t =
      expect_right(two_sites("  west: {core: core, peers: {far: {address: fd00::7, prefix: "
                             "[10.80.0.0/16, 'fd80::/32']}}}\n"));
  const GatewayPeer& far = t.gateways[0].peers[0];
  EXPECT_EQ(ipv6_text(std::get<Ipv6>(far.address)), "fd00::7");
  EXPECT_EQ(texts(far.ipv4), std::vector<std::string>{"10.80.0.0/16"});
  EXPECT_EQ(texts(far.ipv6), std::vector<std::string>{"fd80::/32"});
}

TEST(Gateways, SendOverIpv6IfAsked) {
  const Topology t =
      expect_right(two_sites("  west: {core: core, peers: {east: {ip_version: 6}}}\n  east: {core: "
                             "core, peers: {west: {}}}\n"));
  EXPECT_EQ(std::get<Ipv6>(t.gateways[0].peers[0].address), t.links[2].ends[1].ipv6.address);
}

TEST(Gateways, HaveAClassOfAllPackets) {
  const Topology t = expect_right(two_sites(
      "  west: {core: core, peers: {east: {}}}\n  east: {core: core, peers: {west: {}}}\n"));
  ASSERT_EQ(t.gateways[0].classes.size(), 1U);
  EXPECT_EQ(t.gateways[0].classes[0].name, "default");
  EXPECT_EQ(t.gateways[0].class_of, (std::array<uint8_t, 64>{}));
  EXPECT_EQ(t.gateways[0].strategy, "max-min");
}

TEST(Gateways, ClassifyByDscp) {
  const std::string far = "peers: {far: {address: 10.9.9.9, prefix: 10.80.0.0/16}}";
  const auto classes = [&](const std::string& text) {
    return expect_right(two_sites("  west: {core: core, " + far + ", classes: {" + text + "}}\n"))
        .gateways[0];
  };
  const Gateway g = classes(
      "voice: {dscp: [46, 44], share: 4}, rest: {}, scavenger: {dscp: 1, "
      "core_dscp: 0, background: true}");
  ASSERT_EQ(g.classes.size(), 3U) << "rest is that of all other packets";
  EXPECT_EQ(g.classes[0].core_dscp, 46U);
  EXPECT_EQ(g.classes[0].share, 4);
  EXPECT_EQ(g.classes[1].core_dscp, 0U);
  EXPECT_TRUE(g.classes[2].background);
  EXPECT_EQ(g.classes[2].core_dscp, 0U);
  EXPECT_EQ(g.class_of[46], 0);
  EXPECT_EQ(g.class_of[44], 0);
  EXPECT_EQ(g.class_of[0], 1);
  EXPECT_EQ(g.class_of[1], 2);
  const Gateway added = classes("voice: {dscp: 46}");
  ASSERT_EQ(added.classes.size(), 2U);
  EXPECT_EQ(added.classes[1].name, "default");
  EXPECT_EQ(added.class_of[0], 1);
}

TEST(Gateways, ReportMistakesInClasses) {
  const auto wrong = [](const std::string& classes) {
    return two_sites(
        "  west: {core: core, peers: {far: {address: 10.9.9.9, prefix: 10.80.0.0/16}}, " + classes +
        "}\n");
  };
  expect_mistakes(wrong("classes: {a: {dscp: 46}, b: {dscp: [8, ^46]}}"),
                  {"46 is already that of class 'a'"});
  expect_mistakes(wrong("classes: {a: {}, ^b: {}}"), {"'a' has no 'dscp' either"});
  expect_mistakes(wrong("classes: {default: {dscp: ^3}}"), {"all packets that no other"});
  expect_mistakes(wrong("classes: {a: {dscp: ^64}}"), {"63"});
  expect_mistakes(wrong("strategy: ^each-flow"), {"max-min"});
  std::string many = "classes: ^{";
  for (int i = 0; i < 9; ++i)
    many += "c" + std::to_string(i) + ": {dscp: " + std::to_string(i) + "}, ";
  expect_mistakes(wrong(many + "}"), {"more than 8 classes"});
}

TEST(Gateways, NeedRoutesToTheirPeers) {
  const auto text = [](const std::string& peer, const std::string& router = "") {
    std::string file = two_sites("  west: {core: core, peers: {far: {" + peer + "}}}\n");
    const size_t routes = file.find("routes:"), end = file.find("]}, east");
    return file.replace(routes, end - routes + 1,
                        router.empty() ? "routes: {prefix: 10.80.0.0/12, via: core}" : router);
  };
  expect_right(text("address: 10.81.0.7, prefix: 10.80.0.0/16"));
  expect_right(text("address: 10.81.0.7, prefix: 10.0.0.0/8"));
  expect_mistakes(text("address: ^192.0.2.7, prefix: 10.80.0.0/16"),
                  {"'west' has no route to 192.0.2.7: give it one, by a core link (`routers.west"});
  expect_mistakes(text("address: 10.81.0.7, prefix: [10.80.0.0/16, ^192.0.2.0/24]"),
                  {"no route to 192.0.2.0/24, and drops packets"});
  expect_mistakes(text("address: ^fd01::7, prefix: 10.80.0.0/16"), {"no route to fd01::7"});
  expect_mistakes(text("address: ^10.81.0.7, prefix: 10.80.0.0/16",
                       "routes: {prefix: 10.80.0.0/12, via: carol}"),
                  {"is link 'carol', which is no core link"});
  // A control plane adds them.
  expect_right(text("address: 192.0.2.7, prefix: 192.0.2.0/24", "fib: {}"));
}

TEST(Gateways, ReportMistakes) {
  const std::string far = "peers: {far: {address: 10.9.9.9, prefix: 10.80.0.0/16}}";
  expect_mistakes(two_sites("  ^wets: {core: core, " + far + "}\n"), {"did you mean 'west'"});
  expect_mistakes(two_sites("  west: {core: ^croe, " + far + "}\n"), {"did you mean 'core'"});
  expect_mistakes(two_sites("  west: {core: ^bob, " + far + "}\n"), {"no link of this router"});
  expect_mistakes(two_sites("  west: {core: [core, ^core], " + far + "}\n"), {"there twice"});
  expect_mistakes(two_sites("  west: {core: core, peers: {^west: {}}}\n"), {"no peer of its own"});
  expect_mistakes(two_sites("  west: {core: core, peers: {^east: {}}}\n"), {"is no gateway"});
  expect_mistakes(two_sites("  west: {core: core, peers: {^far: {address: 10.9.9.9}}}\n"),
                  {"needs an address and a prefix"});
  expect_mistakes(two_sites("  west: {core: core, peers: {far: {address: 10.9.9.9, ip_version: ^6, "
                            "prefix: 10.80.0.0/16}}}\n"),
                  {"'address' says which version it is"});
  expect_mistakes(two_sites("  west: {core: core, peers: ^{}}\n"), {"needs a peer"});
  expect_mistakes(two_sites("  west: {core: core, mtu: ^1700 B, " + far + "}\n"),
                  {"link 'core' has an MTU of 1600 B"});
  expect_mistakes("customers: {anna: {link: core, budget: 1 $/s}}\n" +
                      two_sites("  west: {core: ^core, " + far + "}\n"),
                  {"'core' is the link of customer 'anna'"});
  std::string jumbo = two_sites("  west: {core: core, limit: ^10 KB, " + far + "}\n");
  jumbo.replace(jumbo.find("mtu: 1600"), 9, "mtu: 9000");
  expect_right([&] {
    std::string text = jumbo;
    return text.erase(text.find('^'), 1);
  }());
  jumbo.replace(jumbo.find("mtu: 9000"), 9, "mtu: 12000");
  expect_mistakes(jumbo, {"less than a packet of 12000 B"});
}

TEST(Gateways, WithSecurityForwardNothingInTheClear) {
  const std::string west =
      "  west: {core: core, security: {key_file: /none}, peers: {far: {address: 10.9.9.9, prefix: "
      "10.80.0.0/16}}";
  EXPECT_EQ(expect_right(two_sites(west + "}\n")).gateways[0].silent_peer, SilentPeer::kDrop);
  expect_mistakes(two_sites(west + ", silent_peer: ^forward}\n"), {"in the clear"});
  EXPECT_FALSE(expect_right(two_sites("  west: {core: core, peers: {far: {address: 10.9.9.9, "
                                      "prefix: 10.80.0.0/16}}}\n"))
                   .gateways[0]
                   .security);
  expect_mistakes(two_sites("  west: {core: core, security: ^{}, peers: {far: {address: 10.9.9.9, "
                            "prefix: 10.80.0.0/16}}}\n"),
                  {"missing key 'key_file'"});
}

TEST(Gateways, HoldCustomersBelowTheirCeilings) {
  const std::string customers =
      "customers: {acme: {link: alice, budget: 1 $/s, ceiling: ^20 Mbps}}\n";
  std::string text =
      two_sites("  west: {core: core, peers: {far: {address: 10.9.9.9, prefix: 10.80.0.0/16}}}\n");
  std::string right = customers;
  right.erase(right.find('^'), 1);
  const Topology t = expect_right(text + right);
  EXPECT_EQ(t.customers[0].ceiling.count(), 20e6);
  text.erase(text.find("gateways:"));
  expect_mistakes(text + customers, {"the file has none"});
}

TEST(Gateways, ValidateTheSourcesOfCustomers) {
  const std::string west =
      "  west: {core: core, peers: {far: {address: 10.9.9.9, prefix: 10.80.0.0/16}}}\n";
  const Topology t = expect_right(two_sites(west));
  const auto towards = [&](const char* node, size_t link) {
    const Link& l = t.links[link];
    return l.directions[1 - l.end_at(node)].source_check;
  };
  EXPECT_EQ(towards("west", 0), SourceCheck::kStrict);
  EXPECT_EQ(towards("west", 2), SourceCheck::kOff) << "its core link";
  EXPECT_EQ(towards("east", 3), SourceCheck::kOff) << "no gateway";
  std::string loose = two_sites(west);
  loose.replace(loose.find("ends: [alice, west]"), 19, "ends: [alice, west], source_check: loose");
  EXPECT_EQ(expect_right(loose).links[0].directions[0].source_check, SourceCheck::kLoose);
}

TEST(Gateways, NeedRoomForTheirHeaders) {
  std::string text =
      two_sites("  west: {core: ^core, peers: {far: {address: 10.9.9.9, prefix: 10.80.0.0/16}}}\n");
  text.replace(text.find("mtu: 1600"), 9, "mtu: 100");
  expect_mistakes(text, {"MTU of 100 B; tunnels need 576 B"});
}

}  // namespace
}  // namespace turnpike::config
