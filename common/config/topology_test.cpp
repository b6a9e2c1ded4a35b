// SPDX-License-Identifier: BSD-3-Clause
// Mistakes that only the whole file shows, each reported at its place.
#include <fstream>
#include <iterator>

#include "common/config/marked_file.h"
#include "common/protocols/registry.h"

namespace turnpike::config {
namespace {

TEST(Topology, EndsThatDoNotExist) {
  expect_mistakes(changed("[alice, gate]", "[alice, ^gte]"),
                  {"links.left.ends[1]: there is no host or router 'gte' (did you mean 'gate'?)"});
  expect_mistakes(changed("[gate, bob]", "[gate, ^zed]"), {"there is no host or router 'zed'"});
  expect_mistakes(changed("[alice, gate]", "[alice, ^alice]"), {"both ends are 'alice'"});
}

TEST(Topology, HostsHaveOneLink) {
  expect_mistakes(changed("bob: {}", "bob: {}\n  ^carol: {}"),
                  {"hosts.carol: is not attached to any link"});
  expect_mistakes(changed("traffic:", "  more: {ends: [gate, ^bob], rate: 1 Gbps}\ntraffic:"),
                  {"host 'bob' is already attached to link 'right'"});
  expect_mistakes(changed("routers:", "routers:\n  ^bob: {}"), {"a host has this name already"});
}

TEST(Topology, LawsAreTheRoutersAndAHostsWhereItsDirectionHasOne) {
  const Topology t = expect_right(std::string(kRightFile));
  EXPECT_EQ(t.links[1].directions[0].law.protocol, "fcp");
  EXPECT_EQ(t.links[1].directions[1].law.protocol, "none");
  const Topology own = expect_right(changed("delay: 1 ms", "forward: {law: fcp}"));
  EXPECT_EQ(own.links[0].directions[0].law.protocol, "fcp");
  EXPECT_EQ(own.links[0].directions[1].law.protocol, "none");
}

TEST(Topology, Addresses) {
  const auto hosts = [](const std::string& alice, const std::string& bob) {
    return changed("{budget: 1 $/s}\n  bob: {}",
                   "{budget: 1 $/s, " + alice + "}\n  bob: {" + bob + "}");
  };
  expect_mistakes(hosts("addresses: 10.1.0.1/24", "addresses: ^10.1.0.1/24"),
                  {"10.1.0.1 is the address of 'alice' on link 'left' already"});
  expect_mistakes(hosts("addresses: 10.1.0.1/16", "addresses: ^10.1.9.1/24"),
                  {"overlaps the subnet of link 'left', 10.1.0.0/16"});
  expect_mistakes(hosts("addresses: [10.1.0.1/24, ^10.1.0.2/24]", ""), {"a second IPv4 address"});
  expect_mistakes(hosts("addresses: ^127.0.0.1/8", ""), {"is no interface's address"});
  expect_mistakes(hosts("addresses: ^10.1.0.0/24", ""),
                  {"is its subnet's own or broadcast address"});
  expect_mistakes(hosts("addresses: ^\"fe80::1/64\"", ""), {"is no routable interface's address"});
  expect_mistakes(hosts("addresses: ^10.1.0.1/32", ""), {"a subnet of one address"});
  expect_mistakes(hosts("mac: 02:00:00:00:00:01", "mac: ^02:00:00:00:00:01"),
                  {"is the address of 'alice' already"});
  expect_mistakes(changed("delay: 1 ms", "addresses: {alice: 10.1.0.1/24, gate: ^10.2.0.1/24}"),
                  {"not in the subnet of the other end, 10.1.0.0/24"});
  expect_mistakes(changed("delay: 1 ms", "addresses: {^gat: 10.1.0.1/24}"),
                  {"'gat' is not an end of this link (did you mean 'gate'?)"});
  expect_mistakes(changed("delay: 1 ms", "mtu: ^1000, addresses: {gate: \"fd00::1/64\"}"),
                  {"IPv6 needs 1280 bytes"});
}

TEST(Topology, Ports) {
  expect_mistakes(
      changed("rate: 1 Gbps, delay: 1 ms", "rate: 1 Gbps, attach: {gate: {pci: 3b:00.0}}")
          .replace(0, 0, "")
          .insert(
              changed("rate: 1 Gbps, delay: 1 ms", "rate: 1 Gbps, attach: {gate: {pci: 3b:00.0}}")
                  .find(", delay: 4 ms"),
              ", attach: {^gate: {pci: 0000:3B:00.0}}"),
      {"two ends on one port: PCI device 0000:3b:00.0 is that of 'gate' on link 'left'"});
  expect_mistakes(changed("delay: 1 ms", "attach: {alice: memif, ^gate: ring}"),
                  {"a ring has both ends in one process"});
  expect_mistakes(
      changed("delay: 1 ms",
              "attach: {alice: {memif: {server: true}}, ^gate: {memif: {server: true}}}"),
      {"both ends are memif servers"});
  expect_mistakes(
      changed("delay: 1 ms", "attach: {alice: {memif: {id: 1}}, ^gate: {memif: {id: 2}}}"),
      {"different memif sockets or ids"});
  expect_mistakes(changed("delay: 1 ms", "attach: {^alicia: memif}"), {"(did you mean 'alice'?)"});
  expect_mistakes(changed("lcores: [0, 1]", "lcores: [0, ^0]"),
                  {"routers.gate.lcores[1]: CPU 0 is listed twice"});
}

TEST(Topology, Routes) {
  const auto routes = [](const std::string& r) {
    return changed("lcores: [0, 1]", "routes: [" + r + "]");
  };
  expect_mistakes(routes("{prefix: 10.9.0.0/16, via: ^rihgt}"),
                  {"there is no link 'rihgt' (did you mean 'right'?)"});
  expect_mistakes(routes("{prefix: 10.9.0.0/16, via: ^10.77.0.1}"),
                  {"no neighbour of 'gate' has this address"});
  expect_mistakes(routes("{prefix: ^10.9.1.0/16, via: right}"), {"did you mean '10.9.0.0/16'?"});
  expect_mistakes(routes("{prefix: 10.9.0.0/16, via: right}, {prefix: ^10.9.0.0/16, via: left}"),
                  {"10.9.0.0/16 has a route already"});
  expect_mistakes(routes("^{prefix: 10.9.0.0/16}"), {"missing key 'via'"});
}

TEST(Topology, Flows) {
  expect_mistakes(changed("to: bob", "to: ^bbo"), {"there is no host 'bbo' (did you mean 'bob'?)"});
  expect_mistakes(changed("to: bob", "to: ^gate"), {"'gate' is a router"});
  expect_mistakes(changed("to: bob", "to: ^alice"), {"'alice' would send to itself"});
  expect_mistakes(changed("from: alice, to: bob", "from: ^bob, to: alice"),
                  {"'bob' has no budget to send with"});
  expect_mistakes(changed("to: bob", "to: bob, start: ^10 s"),
                  {"10 s is not before the end of the run, 10 s"});
  expect_mistakes(changed("to: bob", "to: bob, start: 5 s, stop: ^5 s"),
                  {"5 s is not after the start, 5 s"});
  expect_mistakes(changed("to: bob", "to: bob, packet: ^9 KB"),
                  {"more than the MTU of the path, 1500 B"});
  expect_mistakes(
      changed("bob: {}", "bob: {external: true}")
          .replace(changed("bob: {}", "bob: {external: true}").find("to: bob"), 7, "to: ^bob"),
      {"'bob' is external"});
  std::string no_room = changed("to: bob", "to: ^bob");
  no_room.replace(no_room.find("delay: 4 ms"), 11, "mtu: 84");
  expect_mistakes(no_room, {"leaves no room for data behind 84 B of headers"});
  std::string small = changed("to: bob", "to: bob, ip_version: ^6");
  small.replace(small.find("delay: 4 ms"), 11, "mtu: 1000");
  expect_mistakes(small, {"IPv6 needs an MTU of 1280 B"});
}

TEST(Topology, PresetsHoldForSchemesThatNobodyNamed) {
  const Protocol& fcp = *find_protocol("fcp");
  for (const std::string_view name : preset_names()) {
    const Topology t =
        expect_right("preset: " + std::string(name) + "\n" + std::string(kRightFile));
    const ParamValues expected = preset_values(fcp, false, name);
    ASSERT_EQ(t.flows[0].params.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(t.flows[0].params[i], expected[i]);
  }
}

TEST(Topology, HeldRatesNeedTheirStrategy) {
  const auto held = [](const std::string& strategy, const std::string& flow) {
    std::string text = changed("budget: 1 $/s", "budget: 1 $/s, strategy: " + strategy);
    return text.replace(text.find("to: bob"), 7, "to: bob, " + flow);
  };
  expect_mistakes(held("equal-budget", "hold: ^5 Mbps"),
                  {"flows.one.hold: 'alice' has strategy 'equal-budget': set "
                   "hosts.alice.strategy to 'stability'"});
  expect_mistakes(held("stability", "background: true, hold: ^5 Mbps"),
                  {"a background flow cannot hold a rate"});
  EXPECT_EQ(expect_right(held("stability", "hold: 5 Mbps")).flows[0].hold, 5_Mbps);
}

TEST(Topology, UnreachableHosts) {
  const std::string islands = changed("to: bob", "to: ^bob");
  expect_mistakes(std::string(islands)
                      .replace(islands.find("[gate, bob]"), 11, "[isle, bob]")
                      .replace(islands.find("routers:"), 8, "routers:\n  isle: {}"),
                  {"no path from 'alice' to 'bob'"});
  // A route from the file may form a loop although a path of links exists.
  const std::string astray =
      changed("lcores: [0, 1]", "routes: [{prefix: 10.0.1.0/24, via: left}]");
  expect_mistakes(std::string(astray).replace(astray.find("to: bob"), 7, "to: ^bob"),
                  {"no path from"});
}

TEST(Topology, Workloads) {
  const auto load = [](const std::string& w) {
    return changed("traffic:", "traffic:\n  workloads:\n    ^web: {" + w + "}");
  };
  const auto right = [&](const std::string& w) {
    std::string text = load(w);
    return text.erase(text.find("^web"), 1);
  };
  const std::string who = "from: alice, to: bob, ";
  expect_mistakes(load(who + "size: {fixed: 30 KB}"),
                  {"traffic.workloads.web: missing key 'arrivals'"});
  expect_mistakes(right(who + "arrivals: {poisson: ^438}, size: {fixed: 30 KB}"),
                  {"has no unit: write a number and one of /s"});
  expect_mistakes(right(who + "arrivals: {poisson: 4 /s}, size: {pareto: {mean: 1 KB, shape: ^1}}"),
                  {"shape: '1' is out of range"});
  expect_mistakes(
      right(who + "arrivals: {poisson: 4 /s}, size: {pareto: {mean: 1 KB, cap: ^1 KB}}"),
      {"size.pareto.cap: 1 KB is not above the mean, 1 KB"});
  expect_mistakes(right(who + "arrivals: {uniform: {from: 2 us, to: ^1 us}}, size: {fixed: 1 KB}"),
                  {"arrivals.uniform.to: 1 us is below `from`, 2 us"});
  expect_mistakes(right(who + "arrivals: {poisson: 4 /s}, size: {fixed: 1 KB}, on: ^1 s"),
                  {"set both 'on' and 'off'"});
  expect_mistakes(right(who + "size: {trace: ^/no/such.csv}"),
                  {"'/no/such.csv' cannot be read: No such file"});
  expect_mistakes(
      right("from: [alice, ^alice], to: bob, arrivals: {poisson: 4 /s}, size: {fixed: 1 KB}"),
      {"'alice' is listed twice"});
  const Topology t =
      expect_right(right(who + "arrivals: {poisson: 438 /s}, size: {pareto: {mean: 30 KB}}"));
  ASSERT_EQ(t.workloads.size(), 1U);
  EXPECT_EQ(std::get<PoissonArrivals>(t.workloads[0].arrivals).per_second, 438);
  EXPECT_EQ(std::get<ParetoSize>(t.workloads[0].size).shape, 1.2);
}

TEST(Topology, Buffers) {
  expect_mistakes(changed("delay: 4 ms", "buffer: ^1000 B"),
                  {"1 KB cannot hold one packet of 1.5 KB"});
  expect_mistakes(changed("delay: 1 ms", "delay: 0 s, buffer: ^0.001 BDP"),
                  {"which cannot hold one packet"});
}

TEST(Topology, TenMistakesInOneFile) {
  std::ifstream in(TURNPIKE_SOURCE_ROOT "/tests/config/ten-mistakes.yaml");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const Loaded loaded = load_text(text, "ten-mistakes.yaml");
  ASSERT_FALSE(loaded);
  // Each mistake's line ends with a comment: its column and words of its message.
  std::vector<std::string> lines{""};
  for (const char c : text) c == '\n' ? (void)lines.emplace_back() : lines.back().push_back(c);
  size_t told = 0;
  for (const Mistake& m : loaded.error()) {
    const std::string& line = lines.at(static_cast<size_t>(m.line - 1));
    const std::string expected = "# " + std::to_string(m.column) + ": ";
    const size_t at = line.find(expected);
    ASSERT_NE(at, std::string::npos) << m.text();
    EXPECT_NE(m.message.find(line.substr(at + expected.size())), std::string::npos) << m.text();
    ++told;
  }
  EXPECT_EQ(told, 10U);
}

}  // namespace
}  // namespace turnpike::config
