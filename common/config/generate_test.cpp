// SPDX-License-Identifier: BSD-3-Clause
// Generated networks: their sizes and shapes, and the mistakes in their description.
#include "common/config/generate.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "common/config/marked_file.h"
#include "common/config/path.h"
#include "common/units/instrumented.h"

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

/// A topology file in a folder of its own, beside `list`.
class WithList {
 public:
  explicit WithList(const std::string& list) {
    std::string name = (std::filesystem::temp_directory_path() / "edges-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(folder_ / "list.txt") << list;
  }
  ~WithList() { std::filesystem::remove_all(folder_); }
  WithList(const WithList&) = delete;
  WithList& operator=(const WithList&) = delete;

  [[nodiscard]] Loaded load(const std::string& shape = "as_like: { file: list.txt, hosts: 2 }",
                            const std::string& more = "") const {
    const auto path = folder_ / "net.yaml";
    std::ofstream(path) << generated(shape, more);
    return load_file(path.string());
  }

 private:
  std::filesystem::path folder_;
};

TEST(Generate, MakesAnAsLikeNetwork) {
  const WithList list("# provider|customer|-1\n10|20|-1\n10|30|-1|bgp\n20|30|0\n30|4|-1\n");
  const Loaded loaded = list.load();
  ASSERT_TRUE(loaded) << loaded.error()[0].text();
  const Topology& t = *loaded;
  EXPECT_EQ(t.hosts.size(), 8U);
  EXPECT_EQ(t.links.size(), 12U);
  ASSERT_EQ(t.routers.size(), 4U);
  EXPECT_EQ(neighbours(t, "net-as30"), (std::set<std::string>{"net-as10", "net-as20", "net-as4",
                                                              "net-as30-h0", "net-as30-h1"}));
  EXPECT_EQ(hops(t, "net-as4-h0", "net-as4-h1"), 2U);
  EXPECT_EQ(hops(t, "net-as4-h0", "net-as10-h1"), 4U);
  const auto link = [&](const std::string& name) {
    return *std::ranges::find(t.links, name, &Link::name);
  };
  EXPECT_EQ(link("net-as10-as30").directions[0].rate, 200_Mbps);  // as the end with two neighbours
  EXPECT_EQ(link("net-as30-as4").directions[1].rate, 100_Mbps);
  EXPECT_EQ(link("net-as4-h0-as4").directions[0].rate, 1_Gbps);
  for (const char* name : {"net-as10-as20", "net-as10-as30", "net-as20-as30", "net-as30-as4"}) {
    const Nanos delay = link(name).directions[0].delay;  // of 5 ms times tenths
    EXPECT_GE(delay, 500_us) << name;
    EXPECT_EQ(delay.count() % 500'000, 0) << name;
  }
  ASSERT_EQ(t.edge_lists.size(), 1U);
  // Six links take four addresses each of a provider's prefix, the next power of two.
  const Router& r10 = *std::ranges::find(t.routers, "net-as10", &Router::name);
  ASSERT_TRUE(r10.ipv4_prefix && r10.ipv6_prefix);
  EXPECT_EQ(r10.ipv4_prefix->length, 28);
  EXPECT_TRUE(covers(*r10.ipv4_prefix, link("net-as10-as20").ends[1].ipv4));
  EXPECT_TRUE(covers(*r10.ipv6_prefix, link("net-as10-h0-as10").ends[0].ipv6));
  // One route to each other router's prefix, and one to each own link.
  EXPECT_EQ(r10.ipv4_routes.size(), 3U + 4U);
  EXPECT_EQ(r10.ipv6_routes.size(), 3U + 4U);
}

TEST(Generate, ReportsAllWrongLinesOfAList) {
  const WithList list("1|2|-1\n 1|x|0\n3|3|0\n\n4|5|7\n2|1|0\nfoo\n1|2\n1|4294967296|0\n");
  const Loaded loaded = list.load();
  ASSERT_FALSE(loaded);
  std::vector<std::string> found;
  for (const Mistake& m : loaded.error()) {
    found.push_back(std::to_string(m.line) + ":" + std::to_string(m.column) + " " + m.message);
    EXPECT_TRUE(m.file.ends_with("/list.txt")) << m.file;
  }
  EXPECT_EQ(
      found,
      (std::vector<std::string>{
          "2:4 'x' is not the number of an AS, 0 to 4294967295", "3:3 AS 3 has a link to itself",
          "5:5 '7' is neither -1, a provider's link, nor 0, a peer's",
          "6:1 AS 2 and AS 1 have a link already", "7:1 'foo' is not 'A|B|-1' or 'A|B|0'",
          "8:1 '1|2' is not 'A|B|-1' or 'A|B|0'",
          "9:3 '4294967296' is not the number of an AS, 0 to 4294967295"}));
}

TEST(Generate, BoundsAnAsLikeNetwork) {
  std::string star;
  for (int i = 1; i <= 100; ++i) star += "0|" + std::to_string(i) + "|-1\n";
  const WithList list(star);
  const Loaded huge = list.load("as_like: { file: list.txt, hosts: 1000 }");
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error()[0].message, "more than 65536 links");
  const Loaded lacks = list.load("as_like: { file: none.txt }");
  ASSERT_FALSE(lacks);
  EXPECT_NE(lacks.error()[0].text().find("none.txt' cannot be read"), std::string::npos);
  const Loaded empty = WithList("# nothing\n").load();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error()[0].message, "no link in this list");
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
  if (!kInstrumented) {  // it makes them all first; BoundsAnAsLikeNetwork does not
    std::string huge = "run: {}\ngenerate:\n";
    for (int i = 0; i < 300; ++i)
      huge += "  " + std::string(i == 21 ? "^" : "") + "n" + std::to_string(i) +
              ": { shape: { fat_tree: 16 }, links: { rate: 1 Gbps } }\n";
    expect_mistakes(huge, {"more than 65536 links"});
  }
  std::string many =
      "run: { duration: 1 s }\ngenerate:\n  net: { shape: { dumbbell: 500 }, links: { rate: 1 Gbps "
      "}, hosts: { budget: 1 $/s } }\ntraffic:\n  workloads:\n";
  for (int i = 0; i < 101; ++i)
    many +=
        "    w" + std::to_string(i) + ": { from: " + (i == 100 ? "^" : "") +
        "net, to: [net-left0, net-left1], arrivals: { poisson: 1 /s }, size: { fixed: 10 KB } }\n";
  expect_mistakes(many, {"more than 100000 hosts"});
}

TEST(Generate, ReportsMistakes) {
  expect_mistakes(generated("fat_tree: ^5"), {"generate.net.shape.fat_tree: must be even"});
  expect_mistakes(generated("fat_tree: ^18"), {"out of range"});
  expect_mistakes(generated("^tree: 4"),
                  {"'tree' is not one of dumbbell, parking_lot, fat_tree, as_like"});
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
