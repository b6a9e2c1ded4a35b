// SPDX-License-Identifier: BSD-3-Clause
// Values that the file leaves out: defaults, addresses, routes and paths, the same at every load.
#include "common/config/path.h"

#include <algorithm>
#include <random>
#include <set>

#include "common/config/address.h"
#include "common/config/all_pairs.h"
#include "common/config/graph_paths.h"
#include "common/config/marked_file.h"
#include "common/units/instrumented.h"
#include "common/units/text.h"

namespace turnpike::config {
namespace {

std::string demo() {
  return "run: {duration: 15 s}\nhosts: {a: {budget: 1 $/s}, b: {budget: 1 $/s}, s: {}}\n"
         "routers: {g: {}}\nlinks:\n"
         "  ag: {ends: [a, g], rate: 10 Gbps, delay: 2 ms, attach: memif}\n"
         "  bg: {ends: [b, g], rate: 10 Gbps, delay: 22 ms, attach: memif}\n"
         "  gs: {ends: [g, s], rate: 100 Mbps, delay: 8 ms, buffer: 1 BDP, law: fcp, reverse: "
         "{rate: "
         "1 Mbps, buffer: 9 KB}}\n"
         "traffic: {flows: {x: {from: a, to: s}, y: {from: b, to: s, stop: 3 s}}}\n";
}

TEST(Completion, FillsInTheFile) {
  const Topology t = expect_right(demo());
  EXPECT_EQ(t.run.name, "file");
  EXPECT_EQ(t.hosts[0].strategy, "equal-budget");
  EXPECT_EQ(t.routers[0].lcores, std::vector<unsigned>{0});
  EXPECT_EQ(prefix_text(t.links[2].ends[1].ipv4), "10.0.2.2/24");
  EXPECT_EQ(prefix_text(t.links[2].ends[0].ipv6), "fd00:74:0:2::1/64");
  EXPECT_EQ(mac_text(t.links[2].ends[1].mac), "02:54:50:00:02:02");
  EXPECT_EQ(t.flows[0].stop, kNever);
  EXPECT_EQ(t.flows[0].packet, Bytes(1500));
  EXPECT_EQ(t.flows[0].size, kEndless);
  EXPECT_TRUE(t.links[0].emulate_delay);
  const auto& memif = std::get<AttachMemif>(t.links[0].ends[1].attachment);
  EXPECT_TRUE(memif.server);
  EXPECT_FALSE(std::get<AttachMemif>(t.links[0].ends[0].attachment).server);
  EXPECT_EQ(memif.socket, "%t/memif/file+ag");
}

TEST(Completion, BuffersFollowTheLongestRoundTrip) {
  const Topology t = expect_right(demo());
  EXPECT_EQ(round_trip(t, 0, 2), 20_ms);
  EXPECT_EQ(round_trip(t, 1, 2), 60_ms);
  EXPECT_EQ(t.links[2].directions[0].buffer, Bytes(750'000));  // 100 Mbps x 60 ms
  EXPECT_EQ(t.links[2].directions[1].buffer, Bytes(9'000));
  EXPECT_EQ(t.links[2].directions[1].rate, 1_Mbps);
  EXPECT_EQ(t.links[0].directions[0].buffer, Bytes(16'000'000));  // 25 MB, clipped
  const Topology idle = expect_right(
      changed("law: fcp}\ntraffic:\n  flows:\n    one: {from: alice, to: bob}", "buffer: 2 BDP}"));
  EXPECT_EQ(idle.links[1].directions[0].buffer, Bytes(20'000));  // 10 Mbps x 2 x 4 ms x 2
  EXPECT_EQ(expect_right(std::string(kRightFile)).links[1].directions[0].buffer, Bytes(64'000));
}

TEST(Completion, RealDevicesDelayByThemselvesAndLineRateCountsTheFrame) {
  const Topology t =
      expect_right(changed("delay: 1 ms", "drain: line-rate, attach: {gate: {pci: 3B:00.0}}"));
  EXPECT_FALSE(t.links[0].emulate_delay);
  EXPECT_EQ(t.links[0].directions[0].overhead, Bytes(38));
  EXPECT_EQ(t.links[1].directions[0].overhead, Bytes(0));
  EXPECT_EQ(std::get<AttachPci>(t.links[0].ends[1].attachment).address, "0000:3b:00.0");
}

TEST(Completion, ANicHasItsDriversFlowControlUnlessTheFileSaysSo) {
  const auto of = [](const std::string& pci) {
    const Topology t = expect_right(changed("delay: 1 ms", "attach: {gate: {pci: " + pci + "}}"));
    const auto& nic = std::get<AttachPci>(t.links[0].ends[1].attachment);
    EXPECT_EQ(nic.address, "0000:3b:00.0");
    return nic.flow_control;
  };
  EXPECT_EQ(of("3b:00.0"), std::nullopt);
  EXPECT_EQ(of("{address: 3b:00.0}"), std::nullopt);
  EXPECT_EQ(of("{address: 3b:00.0, flow_control: off}"), FlowControl::kOff);
  EXPECT_EQ(of("{address: 3b:00.0, flow_control: rx}"), FlowControl::kRx);
  EXPECT_EQ(of("{address: 3b:00.0, flow_control: tx}"), FlowControl::kTx);
  EXPECT_EQ(of("{address: 3b:00.0, flow_control: on}"), FlowControl::kOn);
}

TEST(Completion, AssignedAddressesStepAsideForGivenOnes) {
  const Topology t = expect_right(changed(
      "bob: {}", "bob: {addresses: [10.0.0.7/8, \"fd00:74::9/60\"], mac: 02:54:50:00:00:01}"));
  EXPECT_EQ(prefix_text(t.links[0].ends[0].ipv4), "172.16.0.1/24");
  EXPECT_EQ(prefix_text(t.links[0].ends[0].ipv6), "fd00:74:1::1/64");
  EXPECT_EQ(prefix_text(t.links[1].ends[0].ipv4), "10.0.0.1/8");
  EXPECT_NE(t.links[0].ends[0].mac, t.links[1].ends[1].mac);
  const Topology two = expect_right(changed("bob: {}", "bob: {addresses: 10.5.0.1/31}"));
  EXPECT_EQ(prefix_text(two.links[1].ends[0].ipv4), "10.5.0.0/31");
}

TEST(Completion, RoutesByHandWin) {
  const Topology t = expect_right(
      changed("lcores: [0, 1]",
              "routes: [{prefix: 0.0.0.0/0, via: right}, {prefix: 10.9.0.0/16, via: 10.0.0.1}]"));
  const auto& routes = t.routers[0].ipv4_routes;
  ASSERT_EQ(routes.size(), 4U);  // two from the file, two subnets of its own
  EXPECT_EQ(routes[1].link, 0U);
  EXPECT_EQ(t.routers[0].ipv6_routes.size(), 2U);
}

// --- random networks against exhaustive search --------------------------------------------------

struct Random {
  std::string text;
  size_t hosts, routers;
  std::vector<std::pair<size_t, size_t>> links;  // routers; delays as listed
  std::vector<int> delays;
};

/// `with_prefixes`: some routers have a prefix, of which their links take addresses.
Random random_network(std::mt19937_64& rng, bool with_prefixes = false) {
  const auto pick = [&](size_t n) { return static_cast<size_t>(rng() % n); };
  Random net;
  net.routers = 1 + pick(6);
  net.hosts = 2 + pick(3);
  std::string hosts = "hosts:\n", routers = "routers:\n", links = "links:\n";
  for (size_t r = 0; r < net.routers; ++r) {
    const std::string n = std::to_string(r);
    routers += "  r" + n + ":";
    if (with_prefixes && pick(2) == 0)
      routers.append(" {prefix: [172.16.")
          .append(n)
          .append(".0/24, 'fd00:75:")
          .append(n)
          .append("::/48']}");
    routers += "\n";
  }
  for (size_t r = 1; r < net.routers; ++r) net.links.emplace_back(pick(r), r);
  for (size_t extra = pick(5); extra > 0 && net.routers > 1; --extra) {
    const size_t a = pick(net.routers), b = pick(net.routers);
    if (a != b) net.links.emplace_back(a, b);
  }
  for (size_t i = 0; i < net.links.size(); ++i) {
    net.delays.push_back(1 + static_cast<int>(pick(3)));
    links += "  l" + std::to_string(i) + ": {ends: [r" + std::to_string(net.links[i].first) +
             ", r" + std::to_string(net.links[i].second) +
             "], rate: 1 Gbps, delay: " + std::to_string(net.delays[i]) + " ms}\n";
  }
  for (size_t h = 0; h < net.hosts; ++h) {
    hosts += "  h" + std::to_string(h) + ": {budget: 1 $/s}\n";
    links += "  a" + std::to_string(h) + ": {ends: [h" + std::to_string(h) + ", r" +
             std::to_string(pick(net.routers)) + "], rate: 1 Gbps}\n";
  }
  net.text = hosts + routers + links;
  return net;
}

// (hops, delay in ms) between all routers by relaxing every link until nothing changes.
std::vector<std::vector<std::pair<int, int>>> all_distances(const Random& net) {
  std::vector<std::vector<std::pair<int, int>>> d(
      net.routers, std::vector<std::pair<int, int>>(net.routers, {1000, 0}));
  for (size_t r = 0; r < net.routers; ++r) d[r][r] = {0, 0};
  for (size_t turn = 0; turn < net.routers; ++turn)
    for (size_t i = 0; i < net.links.size(); ++i)
      for (size_t from = 0; from < net.routers; ++from)
        for (const auto& [a, b] :
             {net.links[i], std::pair(net.links[i].second, net.links[i].first)}) {
          const auto via = std::pair(d[from][a].first + 1, d[from][a].second + net.delays[i]);
          d[from][b] = std::min(d[from][b], via);
        }
  return d;
}

TEST(Paths, AreTheShortestInRandomNetworks) {
  std::mt19937_64 rng(7);
  for (int round = 0; round < (kInstrumented ? 100 : 600); ++round) {
    const Random net = random_network(rng, round % 2 == 1);
    const Topology t = expect_right(net.text);
    ASSERT_EQ(t.hosts.size(), net.hosts);
    const auto distances = all_distances(net);
    const auto router_of = [&](size_t h) {
      const Link& link = t.links[t.hosts[h].link];
      return static_cast<size_t>(std::stoi(link.ends[1 - t.hosts[h].end].node.substr(1)));
    };
    for (size_t a = 0; a < net.hosts; ++a)
      for (size_t b = 0; b < net.hosts; ++b)
        for (const unsigned version : {4U, 6U}) {
          const auto path = path_between(t, a, b, version);
          if (a == b) {
            EXPECT_TRUE(path.empty());
            continue;
          }
          // The path runs from end to end without a gap.
          std::string at = t.hosts[a].name;
          for (const Hop& hop : path) {
            EXPECT_EQ(t.links[hop.link].ends[hop.direction].node, at);
            at = t.links[hop.link].ends[1 - hop.direction].node;
          }
          EXPECT_EQ(at, t.hosts[b].name);
          GraphPaths graph(t);
          EXPECT_EQ(graph.path(a, b).size(), path.size());
          const auto [hops, delay] = distances[router_of(a)][router_of(b)];
          EXPECT_EQ(static_cast<int>(path.size()), hops + 2) << net.text;
          EXPECT_EQ(propagation(t, path), Nanos(delay * 1'000'000)) << net.text;
        }
  }
}

TEST(Paths, OfAllPairsAreThoseOfEachPair) {
  std::mt19937_64 rng(11);
  for (int round = 0; round < (kInstrumented ? 60 : 300); ++round) {
    const Random net = random_network(rng, round % 2 == 1);
    const Topology t = expect_right(net.text);
    const Threads threads(1 + static_cast<unsigned>(round % 3));
    std::vector<size_t> from, to;
    for (size_t h = 0; h < t.hosts.size(); ++h) {
      if (h == 0 || rng() % 2 == 0) from.push_back(h);
      if (h + 1 == t.hosts.size() || rng() % 2 == 0) to.push_back(h);
    }
    for (const unsigned version : {4U, 6U}) {
      std::vector<std::array<Nanos, 2>> expected(t.links.size()), found(t.links.size());
      for (const size_t a : from)
        for (const size_t b : to)
          for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
            for (const Hop& hop : path_between(t, x, y, version)) {
              Nanos& link = expected[hop.link][hop.direction];
              link = std::max(link, round_trip(t, a, b, version));
            }
      std::vector<size_t> all = from;
      all.insert(all.end(), to.begin(), to.end());
      const auto pairs = AllPairs(t, all, version, threads).examine(from, to, found);
      EXPECT_TRUE(pairs.unreachable.empty());
      EXPECT_EQ(pairs.mtu, 1500);
      EXPECT_EQ(found, expected) << net.text;
    }
  }
}

TEST(Paths, OfAllPairsHonourRoutesOfTheFile) {
  const std::string file =
      "hosts: {a: {budget: 1 $/s}, b: {budget: 1 $/s}, c: {budget: 1 $/s}}\n"
      "routers:\n  r0: {ROUTES}\n  r1:\n  r2:\n"
      "links:\n  a0: {ends: [a, r0], rate: 1 Gbps, delay: 1 ms}\n"
      "  b1: {ends: [b, r1], rate: 1 Gbps, delay: 1 ms}\n"
      "  c1: {ends: [c, r1], rate: 1 Gbps, delay: 1 ms}\n"
      "  r01: {ends: [r0, r1], rate: 1 Gbps, delay: 1 ms, mtu: 1400}\n"
      "  r02: {ends: [r0, r2], rate: 1 Gbps, delay: 10 ms}\n"
      "  r21: {ends: [r2, r1], rate: 1 Gbps, delay: 10 ms, mtu: 1300}\n";
  const auto with = [&](const std::string& routes) {
    return std::string(file).replace(file.find("ROUTES"), 6, routes);
  };
  // Only packets to c take the detour.
  const Topology detour = expect_right(with("routes: {prefix: 10.0.2.0/24, via: r02}"));
  std::vector<std::array<Nanos, 2>> rounds(detour.links.size());
  auto pairs = AllPairs(detour, {0, 1, 2}, 4, Threads()).examine({0}, {1, 2}, rounds);
  EXPECT_EQ(pairs.mtu, 1300);
  EXPECT_TRUE(pairs.unreachable.empty());
  EXPECT_EQ(rounds[4][0], 25_ms);
  EXPECT_EQ(rounds[3][0], 6_ms);   // to b
  EXPECT_EQ(rounds[3][1], 25_ms);  // back from c
  // r1 sends them back: a loop.
  Topology loop = expect_right(with(""));
  loop.routers[1].ipv4_routes[2].link = 3;
  loop.routers[0].ipv4_by_hand = 1;
  pairs = AllPairs(loop, {0, 1, 2}, 4, Threads()).examine({0}, {1, 2}, rounds);
  ASSERT_EQ(pairs.unreachable.size(), 1U);
  EXPECT_EQ(pairs.unreachable[0].to, 2U);
}

TEST(Prefixes, GiveAddressesAndReplaceRoutes) {
  const Topology t =
      expect_right(changed("lcores: [0, 1]", "prefix: [10.0.0.0/28, 'fd01::/60'], lcores: [0, 1]"));
  EXPECT_EQ(prefix_text(t.links[0].ends[0].ipv4), "10.0.0.1/30");
  EXPECT_EQ(prefix_text(t.links[1].ends[1].ipv4), "10.0.0.6/30");
  EXPECT_EQ(prefix_text(t.links[1].ends[1].ipv6), "fd01:0:0:1::2/64");
  // Given addresses may lie in it, and assigned ones step aside.
  std::string text = changed("bob: {}", "bob: {addresses: 10.0.0.2/29}");
  text.replace(text.find("lcores: [0, 1]"), 14, "prefix: 10.0.0.0/28");
  const Topology given = expect_right(text);
  EXPECT_EQ(prefix_text(given.links[1].ends[0].ipv4), "10.0.0.1/29");
  EXPECT_EQ(prefix_text(given.links[0].ends[0].ipv4), "10.0.0.9/30");
}

TEST(Prefixes, ReportMistakes) {
  const auto file = [](const std::string& a, const std::string& b, const std::string& link) {
    return "run: {}\nhosts: {x: {}, y: {" + link + "}}\nrouters:\n  a: {prefix: " + a +
           "}\n  b: {prefix: " + b +
           "}\nlinks:\n  xa: {ends: [x, a], rate: 1 Gbps}\n"
           "  ab: {ends: [a, b], rate: 1 Gbps}\n  by: {ends: [b, y], rate: 1 Gbps}\n";
  };
  expect_mistakes(file("10.1.0.0/16", "^10.1.2.0/24", ""),
                  {"routers.b.prefix: 10.1.2.0/24 overlaps the prefix of 'a', 10.1.0.0/16"});
  expect_mistakes(file("^10.1.0.1/16", "10.2.0.0/16", ""),
                  {"routers.a.prefix: bits beyond the prefix length are set"});
  expect_mistakes(file("[10.1.0.0/16, ^10.2.0.0/16]", "10.3.0.0/16", ""), {"a second IPv4 prefix"});
  expect_mistakes(file("^10.1.0.0/31", "^'fd01::/65'", ""),
                  {"has the length 30", "has the length 64"});
  expect_mistakes(file("10.1.0.0/16", "10.2.0.0/16", "addresses: ^10.1.7.1/24"),
                  {"hosts.y.addresses: 10.1.7.0/24 overlaps the prefix of 'a', 10.1.0.0/16"});
  expect_mistakes(
      "run: {}\nhosts: {x: {addresses: ^10.2.7.1/16}}\nrouters: {a: {prefix: 10.2.0.0/24}}\n"
      "links: {xa: {ends: [x, a], rate: 1 Gbps}}\n",
      {"hosts.x.addresses: 10.2.0.0/16 overlaps the prefix of 'a', 10.2.0.0/24"});
  const Topology t = expect_right(file("10.1.0.0/16", "10.2.0.0/16", "addresses: 10.2.7.1/24"));
  EXPECT_EQ(t.routers[0].ipv4_routes.size(), 3U);  // two links, b's prefix
  expect_mistakes(
      "run: {}\nhosts: {x: {}, y: {}}\nrouters: {a: {prefix: 10.1.0.0/30}}\nlinks:\n"
      "  xa: {ends: [x, a], rate: 1 Gbps}\n  ^ya: {ends: [y, a], rate: 1 Gbps}\n",
      {"no IPv4 subnet is left for this link in the prefix of 'a'"});
}

// All values that a consumer may read, as text.
std::string all_of(const Topology& t) {
  std::string out;
  for (const Link& l : t.links)
    for (size_t e = 0; e < 2; ++e)
      out += l.name + l.ends[e].node + prefix_text(l.ends[e].ipv4) + prefix_text(l.ends[e].ipv6) +
             mac_text(l.ends[e].mac) + to_text(l.directions[e].buffer) + "\n";
  for (const Router& r : t.routers) {
    for (const auto& x : r.ipv4_routes)
      out += prefix_text(x.prefix) + std::to_string(x.link) + "\n";
    for (const auto& x : r.ipv6_routes)
      out += prefix_text(x.prefix) + std::to_string(x.link) + "\n";
  }
  return out;
}

TEST(Completion, IsTheSameEveryTime) {
  std::mt19937_64 rng(8);
  for (int round = 0; round < 50; ++round) {
    const Random net = random_network(rng);
    EXPECT_EQ(all_of(expect_right(net.text)), all_of(expect_right(net.text)));
  }
}

TEST(Completion, NoTwoInterfacesShareAnAddress) {
  std::mt19937_64 rng(9);
  for (int round = 0; round < 50; ++round) {
    const Topology t = expect_right(random_network(rng).text);
    std::set<Ipv4> v4;
    std::set<Ipv6> v6;
    std::set<Mac> macs;
    for (const Link& l : t.links)
      for (const Interface& end : l.ends) {
        EXPECT_TRUE(v4.insert(end.ipv4.address).second);
        EXPECT_TRUE(v6.insert(end.ipv6.address).second);
        EXPECT_TRUE(macs.insert(end.mac).second);
        EXPECT_TRUE(contains(l.ends[0].ipv4, end.ipv4.address));
        EXPECT_TRUE(contains(l.ends[0].ipv6, end.ipv6.address));
      }
  }
}

}  // namespace
}  // namespace turnpike::config
