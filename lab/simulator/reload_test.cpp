// SPDX-License-Identifier: BSD-3-Clause
// Reloads under load, exact on a virtual clock: nothing is lost or reordered, memory stays flat,
// and the shares follow each change within ten round trips.
#include <random>

#include <gtest/gtest.h>
#include <malloc.h>
#include <rte_malloc.h>

#include "common/config/load.h"
#include "common/units/instrumented.h"
#include "lab/simulator/world.h"
#include "tests/support/eal.h"
#include "tests/support/ignored_outcomes.h"

namespace turnpike::lab {
namespace {

using Overrides = std::vector<config::Setting>;

config::Topology loaded(const std::string& text, const Overrides& settings = {}) {
  auto t = config::load_text(text, "test.yaml", settings);
  if (!t) ADD_FAILURE() << t.error().front().text();
  return t ? std::move(*t) : config::Topology{};
}

struct Played {
  explicit Played(const std::string& text, const Overrides& settings = {})
      : file(text), topology(loaded(text, settings)) {
    auto made = World::make(topology, ends, {});
    if (!made) throw std::runtime_error(made.error());
    world = std::move(*made);
  }
  void reload(const Overrides& settings) {
    const auto done = world->reload(loaded(file, settings));
    ASSERT_TRUE(done) << done.error();
  }
  [[nodiscard]] router::LinkSnapshot link(size_t l) { return world->router(0).snapshot().links[l]; }

  std::string file;
  testing::IgnoredOutcomes ends;
  config::Topology topology;
  std::unique_ptr<World> world;
};

// --- shares -------------------------------------------------------------------------------------

constexpr const char* kShared = R"(
run: { duration: 20 s }
hosts: { a: { budget: 1 $/s }, b: { budget: 1 $/s }, c: { budget: 2 $/s }, server: {} }
routers: { gate: {} }
links:
  la: { ends: [a, gate], rate: 10 Gbps, delay: 2 ms }
  lb: { ends: [b, gate], rate: 10 Gbps, delay: 2 ms }
  lc: { ends: [c, gate], rate: 10 Gbps, delay: 2 ms }
  out: { ends: [gate, server], rate: 100 Mbps, delay: 8 ms, buffer: 250 KB, law: fcp }
traffic:
  flows:
    fa: { from: a, to: server }
    fb: { from: b, to: server }
    fc: { from: c, to: server }
)";
constexpr Nanos kRtt = 20_ms;

class ReloadShares : public ::testing::TestWithParam<const char*> {};

TEST_P(ReloadShares, FollowEachRateWithinTenRoundTrips) {
  const config::Setting preset{"preset", GetParam()};
  Played p(kShared, {preset});
  p.world->run_until(3_s);
  for (const double mbps : {50.0, 150.0, 80.0, 20.0, 100.0}) {
    const uint64_t before = p.link(3).tx_packets;
    p.reload({preset, {"links.out.rate", std::to_string(mbps) + " Mbps"}});
    EXPECT_EQ(p.link(3).tx_packets, before) << "counters go on";
    p.world->run_until(p.world->now() + kRtt * 10);
    double bytes[4] = {};
    const Nanos span = 400_ms;
    for (size_t l = 0; l < 4; ++l)
      bytes[l] = -static_cast<double>(l < 3 ? p.link(l).rx_bytes : p.link(l).tx_bytes);
    p.world->run_until(p.world->now() + span);
    for (size_t l = 0; l < 4; ++l)
      bytes[l] += static_cast<double>(l < 3 ? p.link(l).rx_bytes : p.link(l).tx_bytes);
    const double all = bytes[0] + bytes[1] + bytes[2];
    EXPECT_NEAR(bytes[0] / all, 0.25, 0.0125) << mbps;
    EXPECT_NEAR(bytes[1] / all, 0.25, 0.0125) << mbps;
    EXPECT_NEAR(bytes[2] / all, 0.5, 0.025) << mbps;
    EXPECT_NEAR(bytes[3] * 8 / to_seconds(span) / 1e6, mbps, 0.05 * mbps);
  }
  EXPECT_TRUE(p.world->router(0).snapshot().conserved());
}

INSTANTIATE_TEST_SUITE_P(Presets, ReloadShares, ::testing::Values("turnpike", "paper"));

TEST(Reload, AnIdenticalConfigurationChangesNoPacket) {
  const auto play = [](bool reloads) {
    Played p(kShared);
    for (int i = 1; i <= 20; ++i) {
      p.world->run_until(100_ms * i);
      if (reloads) p.reload({});
    }
    const router::LinkSnapshot out = p.link(3);
    std::vector<double> figures{static_cast<double>(out.tx_bytes),
                                static_cast<double>(out.queued_bytes), out.waited};
    for (const Gauge& g : out.gauges) figures.push_back(g.value);
    return figures;
  };
  EXPECT_EQ(play(true), play(false));
}

TEST(Reload, KeepsQueuePriceAndCounters) {
  Played p(kShared);
  p.world->run_until(3_s);
  const router::LinkSnapshot before = p.link(3);
  p.reload({{"links.out.rate", "60 Mbps"},
            {"links.out.buffer", "500 KB"},
            {"links.out.law.fcp.alpha", "1"}});
  const router::LinkSnapshot after = p.link(3);
  EXPECT_EQ(after.held_packets, before.held_packets);
  EXPECT_EQ(after.tx_packets, before.tx_packets);
  EXPECT_EQ(after.stamped, before.stamped);
  ASSERT_EQ(after.gauges.size(), before.gauges.size());
  for (size_t g = 0; g < after.gauges.size(); ++g)
    EXPECT_EQ(after.gauges[g].value, before.gauges[g].value) << after.gauges[g].name;
  EXPECT_EQ(after.rate, 60_Mbps);
}

TEST(Reload, ARefusedOneChangesNoRouter) {
  Played p(kShared);
  p.world->run_until(1_s);
  const auto done =
      p.world->reload(loaded(kShared, {{"links.out.mtu", "1400"}, {"links.out.rate", "1 Mbps"}}));
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().find("gate: links.out.mtu"), std::string::npos) << done.error();
  EXPECT_EQ(p.link(3).rate, 100_Mbps);
}

// --- storm --------------------------------------------------------------------------------------

// Half of the lowest rate that a reload sets.
constexpr const char* kStorm = R"(
run: { duration: 20 s }
hosts: { a: { budget: 1 $/s }, b: { budget: 2 $/s }, c: {}, server: {} }
routers:
  gate:
    lcores: [1, 2]
    enforce: {}
groups: { gold: { weight: 2 }, rest: }
customers:
  acme: { link: la, budget: 5 $/s, group: gold }
  beta: { prefix: 10.77.0.0/16, budget: 5 $/s }
links:
  la: { ends: [a, gate], rate: 1 Gbps, delay: 2 ms }
  lb: { ends: [b, gate], rate: 1 Gbps, delay: 2 ms }
  lc: { ends: [c, gate], rate: 1 Gbps, delay: 2 ms }
  out: { ends: [gate, server], rate: 100 Mbps, delay: 3 ms, buffer: 200 KB, law: { fcp: { groups: link } } }
traffic:
  flows:
    fa: { from: a, to: server, limit: 5 Mbps }
    fb: { from: b, to: server, limit: 5 Mbps, dscp: 46 }
  streams:
    sa: { from: a, to: server, rate: { packets: 1000 /s }, frames: { sizes: [64 B, 1000 B] }, flows: 8 }
    sb: { from: b, to: server, rate: { packets: 2000 /s }, frames: { sizes: 600 B }, flows: 8 }
    sc: { from: c, to: server, rate: { packets: 2000 /s }, frames: { sizes: 900 B }, flows: 8 }
)";

/// Rates, budgets, routes, classes, groups and customers of the storm, drawn at random.
Overrides draw_settings(std::mt19937& random) {
  const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Overrides all{{"links.out.rate", std::to_string(80 + draw(60)) + " Mbps"},
                {"links.out.buffer", std::to_string(200 + draw(100)) + " KB"},
                {"links.out.law.fcp.alpha", std::to_string(1 + draw(3))},
                {"customers.acme.budget", std::to_string(5 + draw(5)) + " $/s"},
                {"groups.gold.weight", std::to_string(1 + draw(5))}};
  if (draw(2) == 0)
    all.push_back({"customers.new" + std::to_string(draw(3)),
                   "{ prefix: 10.78.0.0/16, budget: 1 $/s, group: rest }"});
  if (draw(3) == 0) all.push_back({"groups.more", "{ weight: 3 }"});
  if (draw(8) == 0)
    all.push_back({"routers.gate.routes",
                   "[{ prefix: 172.16." + std::to_string(draw(200)) + ".0/24, via: lb }]"});
  constexpr const char* kClasses[] = {
      "{ fast: { match: { dscp: 46 }, policy: { priority: { factor: 2 } } }, rest: }",
      "{ old: { match: { unpriced: true }, policy: { legacy: { share: 0.5, discipline: droptail } "
      "} "
      "}, rest: }",
      "{ x: { match: { protocol: 17, dscp: 0 }, queue: { weight: 0.4 } }, fast: { match: { dscp: "
      "46 "
      "}, policy: { priority: { factor: 2 } } }, rest: }",
      "{ fast: { match: { dscp: 46 }, policy: stability }, old: { match: { unpriced: true }, "
      "policy: "
      "{ legacy: { share: 0.4, discipline: droptail } } }, other: }"};
  if (const unsigned c = draw(6); c < 4) all.push_back({"links.out.forward.classes", kClasses[c]});
  return all;
}

// Of the heap: tables that are mapped once take pages as they fill.
size_t heap_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

size_t eal_bytes() {
  rte_malloc_socket_stats stats{};
  rte_malloc_get_socket_stats(0, &stats);
  return stats.heap_allocsz_bytes;
}

TEST(Reload, AThousandUnderLoadLoseAndReorderNothing) {
  Played p(kStorm);
  std::mt19937 random(1);
  size_t heap = 0, eal = 0;
  constexpr int kReloads = kInstrumented ? 60 : 1000;
  for (int i = 0; i < kReloads; ++i) {
    p.world->run_until(p.world->now() + 5_ms);
    p.reload(draw_settings(random));
    if (HasFatalFailure()) return;
    ASSERT_TRUE(p.world->router(0).snapshot().conserved()) << i;
    if (i == kReloads * 3 / 10) {
      p.reload({});
      p.world->run_until(p.world->now() + 200_ms);
      p.reload({});
      heap = heap_bytes();
      eal = eal_bytes();
    }
  }
  p.reload({});
  p.world->run_until(p.world->now() + 200_ms);
  p.reload({});
  EXPECT_LE(eal_bytes(), eal + 65536) << "rings and tables are freed";
  if (!kInstrumented) {  // AddressSanitizer has a heap of its own
    EXPECT_LT(heap_bytes(), heap + (8 << 20));
  }
  for (sender::Sender* s : p.world->senders()) s->stop(p.world->now());
  p.world->run_until(p.world->now() + 2_s);
  const router::Snapshot end = p.world->router(0).snapshot();
  EXPECT_TRUE(end.conserved());
  EXPECT_EQ(end.dropped(), 0U);
  EXPECT_EQ(end.held, 0U);
  uint64_t sent = 0, received = 0;
  for (sender::Sender* s : p.world->senders())
    for (const auto& host : s->hosts()) {
      for (const auto& e : host->open_loop().emitters()) sent += e->departures().packets.read();
      for (size_t k = 0; k < 3; ++k)
        if (const auto* stream = host->open_loop().meter().stream(k); stream != nullptr) {
          received += stream->arrivals().packets.read();
          EXPECT_EQ(stream->arrivals().reordered.read(), 0U);
          EXPECT_EQ(stream->arrivals().duplicates.read(), 0U);
        }
    }
  EXPECT_GT(sent, 20U * kReloads);
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace turnpike::lab
