// SPDX-License-Identifier: BSD-3-Clause
// Every topology in the tree, and hand-made edge cases, are equal to the topology of their text.
#include "common/config/resolve.h"

#include <algorithm>
#include <filesystem>

#include "common/config/address.h"
#include "common/config/marked_file.h"
#include "common/units/instrumented.h"

namespace turnpike::config {
namespace {

namespace fs = std::filesystem;

// Values that resolved_text() omits because they follow from the rest.
void expect_same_derived(const Topology& a, const Topology& b) {
  ASSERT_EQ(a.hosts.size(), b.hosts.size());
  for (size_t i = 0; i < a.hosts.size(); ++i) {
    EXPECT_EQ(a.hosts[i].link, b.hosts[i].link);
    EXPECT_EQ(a.hosts[i].end, b.hosts[i].end);
  }
  const auto routes = [](const auto& table) {
    std::string out;
    for (const auto& route : table)
      out += prefix_text(route.prefix) + " " + std::to_string(route.link) + "\n";
    return out;
  };
  ASSERT_EQ(a.routers.size(), b.routers.size());
  for (size_t i = 0; i < a.routers.size(); ++i) {
    const Router &x = a.routers[i], &y = b.routers[i];
    EXPECT_EQ(x.links, y.links);
    EXPECT_EQ(routes(x.ipv4_routes), routes(y.ipv4_routes));
    EXPECT_EQ(routes(x.ipv6_routes), routes(y.ipv6_routes));
    EXPECT_EQ(x.ipv4_by_hand, y.ipv4_by_hand);
    EXPECT_EQ(x.ipv6_by_hand, y.ipv6_by_hand);
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (size_t i = 0; i < a.links.size(); ++i)
    for (size_t e = 0; e < 2; ++e)
      EXPECT_EQ(prefix_text(a.links[i].ends[e].ipv6), prefix_text(b.links[i].ends[e].ipv6));
  const auto same_transfers = [](const auto& these, const auto& those) {
    ASSERT_EQ(these.size(), those.size());
    for (size_t i = 0; i < these.size(); ++i) {
      EXPECT_EQ(these[i].packet, those[i].packet);
      EXPECT_EQ(these[i].stop, those[i].stop);
      ASSERT_EQ(these[i].params.size(), those[i].params.size());
      for (size_t p = 0; p < these[i].params.size(); ++p)
        EXPECT_EQ(these[i].params[p], those[i].params[p]);
    }
  };
  same_transfers(a.flows, b.flows);
  same_transfers(a.workloads, b.workloads);
  for (size_t i = 0; i < a.links.size(); ++i)
    for (size_t d = 0; d < 2; ++d) {
      const ParamValues &x = a.links[i].directions[d].law.params,
                        &y = b.links[i].directions[d].law.params;
      ASSERT_EQ(x.size(), y.size());
      for (size_t p = 0; p < x.size(); ++p) EXPECT_EQ(x[p], y[p]);
    }
}

Topology again(const Topology& t) {
  const std::string text = resolved_text(t);
  Topology back = expect_right(text);
  EXPECT_EQ(resolved_text(back), text);
  expect_same_derived(t, back);
  return back;
}

TEST(Resolve, EveryTopologyOfTheTreeComesBackUnchanged) {
  std::vector<fs::path> files{TURNPIKE_SOURCE_ROOT "/tests/config/every-key.yaml"};
  for (const auto& entry : fs::recursive_directory_iterator(TURNPIKE_SOURCE_ROOT "/configs"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  EXPECT_GT(files.size(), 10U);
  std::ranges::sort(files);
  // Configs.AllCommittedTopologiesAreRight loads the others in instrumented builds.
  for (size_t i = 0; i < files.size(); i += kInstrumented ? 2 : 1) {
    const fs::path& file = files[i];
    if (kInstrumented && file.filename() == "as-like.yaml") continue;  // it takes a minute
    SCOPED_TRACE(file.string());
    const Loaded loaded = load_file(file.string());
    ASSERT_TRUE(loaded) << loaded.error()[0].text();
    again(*loaded);
  }
}

TEST(Resolve, KeepsEveryKindOfValue) {
  const Topology t = again(*load_file(TURNPIKE_SOURCE_ROOT "/tests/config/every-key.yaml"));
  EXPECT_EQ(t.run.name, "every-key");
  EXPECT_EQ(t.run.seed, 42U);
  EXPECT_EQ(t.run.output, "out/every-key");
  EXPECT_EQ(t.run.quantum, 20_us);
  EXPECT_EQ(t.run.preset, "paper");
  ASSERT_EQ(t.run.measure.size(), 2U);
  EXPECT_EQ(t.run.measure[1].to, 60_s);
  EXPECT_EQ(t.hosts[1].changes.at(0).at, 2_s);
  EXPECT_EQ(t.hosts[1].changes.at(0).budget, Budget(3));
  EXPECT_TRUE(t.hosts[2].external);
  EXPECT_EQ(t.routers[1].ipv4_by_hand, 1U);
  EXPECT_EQ(t.routers[1].ipv6_by_hand, 1U);
  EXPECT_EQ(t.routers[1].ipv4_routes[0].distance, 1);
  EXPECT_EQ(t.routers[1].ipv6_routes[0].distance, 30);
  ASSERT_TRUE(t.routers[1].fib);
  EXPECT_EQ(t.routers[1].fib->ipv4, 50'000U);
  EXPECT_EQ(t.routers[1].fib->ipv6, 20'000U);
  EXPECT_TRUE(t.routers[0].rebalance);
  EXPECT_FALSE(t.routers[1].rebalance);
  ASSERT_TRUE(t.routers[0].fib);  // of `control: linux`
  EXPECT_EQ(t.routers[0].fib->ipv4, config::FibSize().ipv4);
  const auto& memif = std::get<AttachMemif>(t.links[1].ends[0].attachment);
  EXPECT_EQ(memif.socket, "/run/tp.sock");
  EXPECT_EQ(memif.id, 3U);
  EXPECT_FALSE(memif.server);
  const Link& core = t.links[2];
  EXPECT_EQ(core.directions[0].rate, 80_Mbps);
  EXPECT_EQ(core.directions[0].law.params[0], 2);  // `forward` replaces `law` as a whole
  EXPECT_EQ(core.directions[1].law.protocol, "none");
  EXPECT_EQ(core.directions[1].buffer, 65536_B);
  EXPECT_EQ(core.directions[1].drain, Drain::kLineRate);
  EXPECT_FALSE(core.emulate_delay);
  EXPECT_EQ(std::get<AttachPci>(core.ends[0].attachment).address, "0000:3b:00.0");
  EXPECT_EQ(std::get<AttachPci>(core.ends[0].attachment).flow_control, FlowControl::kRx);
  EXPECT_EQ(std::get<AttachPci>(t.links[5].ends[0].attachment).flow_control, std::nullopt);
  EXPECT_TRUE(t.routers[0].nic_filters);
  EXPECT_FALSE(t.routers[1].nic_filters);
  EXPECT_TRUE(std::get<AttachPcap>(t.links[4].ends[0].attachment).repeat);
  EXPECT_EQ(std::get<AttachVdev>(t.links[5].ends[1].attachment).arguments, "net_null0,size=64");
  EXPECT_TRUE(std::holds_alternative<AttachRing>(t.links[6].ends[0].attachment));
  EXPECT_EQ(t.flows[0].stop, 30_s);
  EXPECT_EQ(t.flows[0].size, kEndless);
  EXPECT_EQ(t.flows[1].size, 3'000'000U);
  EXPECT_TRUE(t.flows[1].count_packets);
  EXPECT_EQ(t.flows[1].limit, 5_Mbps);
  EXPECT_EQ(t.flows[2].stop, kNever);
  EXPECT_TRUE(t.flows[2].background);
  EXPECT_EQ(t.flows[3].hold, 4_Mbps);
  EXPECT_EQ(t.flows[4].params[0], 4);
  EXPECT_EQ(std::get<ParetoSize>(t.workloads[0].size).mean, 30'000_B);
  EXPECT_EQ(std::get<ParetoSize>(t.workloads[0].size).cap, 20'000'000_B);
  EXPECT_EQ(t.workloads[0].off, 500_ms);
  EXPECT_EQ(std::get<PeriodicArrivals>(t.workloads[2].arrivals).per_second, 2000);
  EXPECT_EQ(std::get<UniformArrivals>(t.workloads[3].arrivals).most, 100_us);
  EXPECT_TRUE(fs::exists(std::get<TraceSize>(t.workloads[4].size).file));
}

TEST(Resolve, TakesNamesThatYamlHasOtherUsesFor) {
  std::string text(kRightFile);
  const std::pair<std::string, std::string> names[] = {{"alice", "\"null\""},
                                                       {"bob", "\"-\""},
                                                       {"gate", "\"---\""},
                                                       {"left", "true"},
                                                       {"right", "1e3"}};
  for (const auto& [from, to] : names)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  const Topology t = again(expect_right(text));
  EXPECT_EQ(t.hosts[0].name, "null");
  EXPECT_EQ(t.routers[0].name, "---");
  EXPECT_EQ(t.links[1].name, "1e3");
}

TEST(Resolve, TakesMtusThatDefaultsGiveWayTo) {
  EXPECT_EQ(again(expect_right(changed("delay: 4 ms", "mtu: 100"))).flows[0].packet, 100_B);
  const Topology jumbo = again(expect_right(changed("delay: 4 ms", "mtu: 65535, overhead: 900 B")));
  EXPECT_EQ(jumbo.links[1].directions[0].buffer, 66435_B);
}

TEST(Resolve, LosesNoDigit) {
  const Topology t = again(expect_right(
      changed("delay: 4 ms, law: fcp",
              "delay: 123456789 ns, loss: 0.1234567890123456, buffer: 0.123456 BDP, law: {fcp: "
              "{alpha: 2.718281828459045, noise_every: 300 ms, min_window: 1234567 ns}}")
          .replace(5, 15, "{duration: 12345678901 ns, seed: 18446744073709551615")));
  EXPECT_EQ(t.run.seed, UINT64_MAX);
  EXPECT_EQ(t.run.duration, Nanos(12'345'678'901));
  EXPECT_EQ(t.links[1].directions[0].delay, Nanos(123'456'789));
  EXPECT_EQ(t.links[1].directions[0].loss, 0.1234567890123456);
  EXPECT_EQ(t.links[1].directions[0].law.params[0], 2.718281828459045);
  EXPECT_EQ(t.links[1].directions[0].law.params[10], 0.3);
}

TEST(Resolve, HasRoomForTheLargestFileThatThereMayBe) {
  constexpr int kHosts = kInstrumented ? 100 : 1023, kTransfers = kInstrumented ? 500 : 5000;
  std::string text = "hosts:\n";
  std::string routers = "routers:\n", links = "links:\n", flows = "traffic:\n  flows:\n";
  for (int i = 0; i < kHosts; ++i) {
    const std::string n = std::to_string(i);
    text.append("  h").append(n).append(": {budget: 1 $/s}\n");
    links.append("  l").append(n).append(": {ends: [h").append(n);
    links.append(", g").append(std::to_string(i / kMaxPorts));
    links.append("], rate: 1 Gbps, attach: memif}\n");
  }
  for (int i = 0; i < kTransfers; ++i)
    flows.append("    f").append(std::to_string(i)).append(": {from: h0, to: h1}\n");
  for (size_t i = 0; i <= kHosts / kMaxPorts; ++i)
    routers.append("  g" + std::to_string(i) + ":\n");
  again(expect_right(text + routers + links + flows));
}

}  // namespace
}  // namespace turnpike::config
