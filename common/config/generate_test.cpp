// SPDX-License-Identifier: BSD-3-Clause
// Generated networks: their sizes and shapes, and the mistakes in their description.
#include "common/config/generate.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "common/config/marked_file.h"
#include "common/config/path.h"

namespace turnpike::config {
namespace {

constexpr const char* kTraffic =
    "traffic: { workloads: { web: { from: net, to: net, arrivals: { poisson: 10 /s }, size: { "
    "fixed: 10 KB } } } }\n";

std::string generated(const std::string& shape, const std::string& more = "",
                      const std::string& links = "{ rate: 100 Mbps, delay: 5 ms, law: fcp }") {
  return "run: { duration: 1 s }\n" + more + "generate:\n  net: { shape: { " + shape +
         " }, links: " + links + ", access: { rate: 1 Gbps }, hosts: { budget: 2 $/s } }\n" +
         kTraffic;
}

std::set<std::string> neighbours(const Topology& t, const std::string& node) {
  std::set<std::string> found;
  for (const Link& link : t.links)
    for (size_t e = 0; e < 2; ++e)
      if (link.ends[e].node == node) found.insert(link.ends[1 - e].node);
  return found;
}

size_t hops(const Topology& t, const std::string& from, const std::string& to) {
  const auto host = [&](const std::string& name) {
    return static_cast<size_t>(std::ranges::find(t.hosts, name, &Host::name) - t.hosts.begin());
  };
  return path_between(t, host(from), host(to)).size();
}

TEST(Generate, MakesADumbbell) {
  const Topology t = expect_right(generated("dumbbell: 3"));
  EXPECT_EQ(t.hosts.size(), 6U);
  EXPECT_EQ(t.routers.size(), 2U);
  EXPECT_EQ(t.links.size(), 7U);
  EXPECT_EQ(neighbours(t, "net-west"),
            (std::set<std::string>{"net-east", "net-left0", "net-left1", "net-left2"}));
  EXPECT_EQ(hops(t, "net-left2", "net-right0"), 3U);
  EXPECT_EQ(t.links[0].name, "net-west-east");
  EXPECT_EQ(t.links[0].directions[1].delay, 5_ms);
  EXPECT_EQ(t.links[0].directions[0].law.protocol, "fcp");
  EXPECT_EQ(t.links[0].mtu, 1500);
  for (const Host& host : t.hosts) EXPECT_EQ(host.budget, Budget(2)) << host.name;
  EXPECT_EQ(t.workloads[0].from.size(), 6U);
  EXPECT_EQ(t.workloads[0].to.size(), 6U);
}

TEST(Generate, MakesAParkingLot) {
  const Topology t = expect_right(generated("parking_lot: 4"));
  EXPECT_EQ(t.routers.size(), 5U);
  EXPECT_EQ(t.hosts.size(), 5U);
  EXPECT_EQ(t.links.size(), 9U);
  EXPECT_EQ(hops(t, "net-h0", "net-h4"), 6U);
  EXPECT_EQ(neighbours(t, "net-r2"), (std::set<std::string>{"net-h2", "net-r1", "net-r3"}));
}

TEST(Generate, MakesAFatTree) {
  const Topology t = expect_right(generated("fat_tree: 4"));
  EXPECT_EQ(t.hosts.size(), 16U);    // k^3 / 4
  EXPECT_EQ(t.routers.size(), 20U);  // 5 k^2 / 4
  EXPECT_EQ(t.links.size(), 48U);    // 3 k^3 / 4
  for (const Router& router : t.routers)
    EXPECT_EQ(neighbours(t, router.name).size(), 4U) << router.name;
  EXPECT_EQ(hops(t, "net-h0-0-0", "net-h0-0-1"), 2U);  // one edge router
  EXPECT_EQ(hops(t, "net-h0-0-0", "net-h0-1-0"), 4U);  // one pod
  EXPECT_EQ(hops(t, "net-h0-0-0", "net-h3-1-1"), 6U);
}

TEST(Generate, AddsToTheFile) {
  const Topology t =
      expect_right(generated("parking_lot: 1",
                             "hosts: { alice: { budget: 1 $/s } }\n"
                             "links: { alice-net: { ends: [alice, net-r1], rate: 1 Gbps } }\n"));
  EXPECT_EQ(t.hosts.size(), 3U);
  EXPECT_EQ(hops(t, "alice", "net-h0"), 3U);
}

TEST(Generate, HasAccessLinksAsTheOthersUnlessGiven) {
  const Topology t = expect_right(
      "run: {}\ngenerate: { net: { shape: { dumbbell: 1 }, links: { rate: 3 Mbps, mtu: 1400 } } "
      "}\n");
  ASSERT_EQ(t.links.size(), 3U);
  for (const Link& link : t.links) {
    EXPECT_EQ(link.directions[1].rate, BitRate(3e6)) << link.name;
    EXPECT_EQ(link.mtu, 1400) << link.name;
  }
}

TEST(Generate, IsBounded) {
  std::string huge = "run: {}\ngenerate:\n";
  for (int i = 0; i < 300; ++i)
    huge += "  " + std::string(i == 0 ? "^" : "") + "n" + std::to_string(i) +
            ": { shape: { fat_tree: 16 }, links: { rate: 1 Gbps } }\n";
  expect_mistakes(huge, {"more than 1024 links"});
  std::string many =
      "run: { duration: 1 s }\ngenerate:\n  net: { shape: { dumbbell: 500 }, links: { rate: 1 Gbps "
      "}, hosts: { budget: 1 $/s } }\ntraffic:\n  workloads:\n";
  for (int i = 0; i < 21; ++i)
    many +=
        "    w" + std::to_string(i) + ": { from: " + (i == 20 ? "^" : "") +
        "net, to: [net-left0, net-left1], arrivals: { poisson: 1 /s }, size: { fixed: 10 KB } }\n";
  expect_mistakes(many, {"more than 20000 hosts"});
}

TEST(Generate, ReportsMistakes) {
  expect_mistakes(generated("fat_tree: ^5"), {"generate.net.shape.fat_tree: must be even"});
  expect_mistakes(generated("fat_tree: ^18"), {"out of range"});
  expect_mistakes(generated("^tree: 4"), {"'tree' is not one of dumbbell, parking_lot, fat_tree"});
  expect_mistakes(generated("dumbbell: 2", "", "{ rate: 1 Gbps, ^dealy: 1 us }"),
                  {"generate.net.links.dealy: unknown key (did you mean 'delay'?)"});
  expect_mistakes(generated("dumbbell: 2", "", "^{ delay: 1 us }"),
                  {"generate.net.links: missing key 'rate'"});
  expect_mistakes("^^run: {}\n", {": missing key 'hosts'", ": missing key 'links'"});
  expect_mistakes(
      "run: {}\ngenerate:\n  net: { shape: { dumbbell: 2 }, links: { rate: 1 Gbps }, "
      "hosts: { addresses: ^10.0.0.1/24, mac: ^\"02:00:00:00:00:01\" } }\n",
      {"each host needs its own", "each host needs its own"});
  expect_mistakes(
      "run: {}\nhosts: { net-h1: {} }\ngenerate:\n"
      "  ^net: { shape: { parking_lot: 1 }, links: { rate: 1 Gbps } }\n",
      {"hosts.net-h1: a generated network has it, too"});
}

}  // namespace
}  // namespace turnpike::config
