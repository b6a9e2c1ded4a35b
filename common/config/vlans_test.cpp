// SPDX-License-Identifier: BSD-3-Clause
// Links in VLANs of one port, and customers by VLAN.
#include "common/config/marked_file.h"
#include "common/config/resolve.h"

namespace turnpike::config {
namespace {

/// A gateway between two hosts in VLANs of one port; `anna`, `bert`: settings of their links.
std::string trunk(const std::string& anna, const std::string& bert, const std::string& rest = "") {
  return R"(hosts: {anna: {external: true}, bert: {external: true}, core: {external: true}}
routers: {west: {routes: {prefix: 10.0.0.0/8, via: core}}}
links:
  anna: {ends: [anna, west], rate: 1 Gbps, )" +
         anna + R"(}
  bert: {ends: [west, bert], rate: 1 Gbps, )" +
         bert + R"(}
  core: {ends: [west, core], rate: 1 Gbps, law: fcp, mtu: 1640}
)" + rest;
}

constexpr const char* kPort = ", attach: {west: {af_packet: tp-trunk}}";
const std::string kTen = std::string("vlan: 10") + kPort;
const std::string kTwenty = std::string("vlan: 20") + kPort;

TEST(Vlans, ShareAPort) {
  const Topology t = expect_right(trunk(kTen, kTwenty));
  EXPECT_EQ(t.links[0].vlan, 10);
  EXPECT_EQ(t.links[1].vlan, 20);
  EXPECT_TRUE(t.links[0].ends[1].tagged_port);
  EXPECT_TRUE(t.links[1].ends[0].tagged_port);
  EXPECT_FALSE(t.links[0].ends[0].tagged_port);
  EXPECT_FALSE(t.links[2].ends[0].tagged_port);
}

TEST(Vlans, ShareAPortWithAnUntaggedLink) {
  const Topology t = expect_right(trunk(kTen, std::string("mtu: 1500") + kPort));
  EXPECT_EQ(t.links[1].vlan, 0);
  EXPECT_TRUE(t.links[1].ends[0].tagged_port) << "frames in other VLANs are not its";
}

TEST(Vlans, AreKeptByTheResolvedFile) {
  const Topology t =
      expect_right(trunk(kTen, kTwenty, "customers: {a: {vlan: 10-20, budget: 1 $/s}}\n"));
  const Topology again = expect_right(resolved_text(t));
  EXPECT_EQ(again.links[1].vlan, 20);
  EXPECT_EQ(again.customers[0].links, (std::vector<size_t>{0, 1}));
}

TEST(Vlans, ReportMistakes) {
  const auto in = [](const std::string& what) { return what + kPort; };
  expect_mistakes(trunk(in("vlan: ^0"), kTwenty), {"links.anna.vlan: "});
  expect_mistakes(trunk(in("vlan: ^4095"), kTwenty), {"4094"});
  expect_mistakes(trunk(in("vlan: ^ten"), kTwenty), {"links.anna.vlan: "});
  const std::string again = "vlan: 10, attach: {^west: {af_packet: tp-trunk}}";
  expect_mistakes(trunk(kTen, again),
                  {"two ends on one port: VLAN 10 of interface tp-trunk is that of 'west' on link "
                   "'anna'"});
  expect_mistakes(
      trunk("attach: {west: {pci: 0000:01:00.0}}, vlan: 10",
            "attach: {^west: {pci: {address: 0000:01:00.0, flow_control: on}}}, vlan: 20"),
      {"links that share PCI device 0000:01:00.0 need the same settings of it"});
  // The sender's ports carry no tags.
  const std::string host = R"(hosts: {anna: {budget: 1 $/s}, bert: {}}
routers: {west: {}}
links:
  anna: {ends: [anna, west], rate: 1 Gbps, vlan: ^10, attach: memif}
  bert: {ends: [bert, west], rate: 1 Gbps, vlan: 20}
)";
  expect_mistakes(host,
                  {"links.anna.vlan: the sender's ports send no tags: 'anna' is not external"});
}

TEST(Vlans, HaveNoRoutesOfTheirOwn) {
  const std::string same = ", addresses: {west: ^10.0.0.129/24}";
  expect_mistakes(
      trunk(kTen + ", addresses: {west: 10.0.0.1/24}", kTwenty + same),
      {"10.0.0.0/24 overlaps the subnet of link 'anna', 10.0.0.0/24: VLANs have no routes "
       "of their own"});
}

std::string customers(const std::string& text) {
  return trunk(kTen, kTwenty, "customers:\n" + text);
}

TEST(CustomersByVlan, HaveTheLinksInIt) {
  const Topology t = expect_right(
      customers("  a: {vlan: 10, budget: 1 $/s}\n  b: {vlan: [11-30], budget: 1 $/s}\n"));
  EXPECT_EQ(t.customers[0].links, std::vector<size_t>{0});
  EXPECT_EQ(t.customers[1].links, std::vector<size_t>{1});
  const Topology both = expect_right(customers("  a: {vlan: [20, 10], budget: 1 $/s}\n"));
  EXPECT_EQ(both.customers[0].links, (std::vector<size_t>{1, 0}));
  const Topology named = expect_right(customers("  a: {link: [anna, bert], budget: 1 $/s}\n"));
  EXPECT_EQ(named.customers[0].links, (std::vector<size_t>{0, 1}));
}

TEST(CustomersByVlan, ReportMistakes) {
  expect_mistakes(customers("  a: {vlan: ^30, budget: 1 $/s}\n"),
                  {"customers.a.vlan: no link has 'vlan: 30'"});
  expect_mistakes(customers("  a: {vlan: [10, ^30-40], budget: 1 $/s}\n"),
                  {"customers.a.vlan[1]: no link has a 'vlan' from 30 to 40"});
  expect_mistakes(customers("  a: {vlan: 10, budget: 1 $/s}\n  b: {vlan: ^1-10, budget: 1 $/s}\n"),
                  {"customers.b.vlan: link 'anna' (VLAN 10) is already that of customer 'a'"});
  expect_mistakes(customers("  a: {vlan: [10, ^10], budget: 1 $/s}\n"),
                  {"already that of customer 'a'"});
  expect_mistakes(customers("  a: {link: [anna, ^bret], budget: 1 $/s}\n"),
                  {"customers.a.link[1]: there is no link 'bret' (did you mean 'bert'?)"});
  for (const char* bad : {"0", "4095", "20-", "-20", "10-4095", "1 0", "ten", "'10,20'"})
    expect_mistakes(customers("  a: {vlan: ^" + std::string(bad) + ", budget: 1 $/s}\n"),
                    {"is neither a VID from 1 to 4094 nor a range of them such as 20-29"});
  expect_mistakes(customers("  a: {vlan: ^20-10, budget: 1 $/s}\n"),
                  {"is a range that ends before it begins"});
  // Prefixes distinguish customers of one VLAN; no prefix is valid in one VLAN alone.
  expect_mistakes(customers("  ^a: {vlan: 10, prefix: 10.1.0.0/24, budget: 1 $/s}\n"),
                  {"needs either 'prefix' or 'link' or 'vlan'"});
}

TEST(CustomersByVlan, AreNotOfTheCore) {
  expect_mistakes(
      trunk("vlan: 10", "vlan: 20",
            "customers: {a: {vlan: 20, budget: 1 $/s}}\n"
            "gateways: {west: {core: ^[bert, core], peers: {far: {address: 10.9.9.9, prefix: "
            "10.8.0.0/16}}}}\n"),
      {"'bert' is the link of customer 'a'"});
}

}  // namespace
}  // namespace turnpike::config
