// SPDX-License-Identifier: BSD-3-Clause
// A router takes another configuration between two polls: nothing is lost or reordered, and what
// the change does not touch goes on.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/registry.h"
#include "common/units/instrumented.h"
#include "router/control/route_table.h"
#include "router/reload/change.h"
#include "router/reload/plan.h"
#include "tests/support/eal.h"
#include "tests/support/router_world.h"

namespace turnpike::router::test {
namespace {

/// Takes `wanted` and makes it the running configuration.
void reload(World& w, config::Topology& running, const config::Topology& wanted) {
  auto change = w.router().prepare(running, wanted);
  ASSERT_TRUE(change) << change.error();
  w.router().apply(**change);
  change->reset();
  running = wanted;
}

config::Direction& right(config::Topology& t) { return t.links[kRight].directions[0]; }

/// A datagram of a flow, which is its source port, with a number.
Frame numbered(unsigned flow, uint32_t number, size_t size = 400) {
  Frame payload = bytes(size);
  for (unsigned i = 0; i < 4; ++i) payload[i] = static_cast<uint8_t>(number >> (8 * i));
  return v4({}, udp(static_cast<uint16_t>(1000 + flow), 9, payload));
}
unsigned flow_of(const Frame& f) { return (f[34] << 8 | f[35]) - 1000U; }
uint32_t number_of(const Frame& f) {
  return f[42] | static_cast<uint32_t>(f[43]) << 8 | static_cast<uint32_t>(f[44]) << 16 |
         static_cast<uint32_t>(f[45]) << 24;
}

/// A router with kernel routes whose left link is an edge of these customers; the last one is the
/// left host's.
config::Topology edge(unsigned customers) {
  config::Topology t = topology();
  for (uint32_t c = 0; c < customers; ++c) {
    const uint32_t network = c + 1 == customers ? ipv4("10.0.1.0") : ipv4("11.0.0.0") + c * 256;
    t.customers.push_back({.name = "c" + std::to_string(network), .budget = Budget(2)});
    t.ipv4_customers.push_back({config::Ipv4Prefix{network, 24}, c});
  }
  right(t).law.params = preset_values(*find_protocol("fcp"), true, "turnpike");
  t.routers[0].enforcement = {.links = {kLeft},
                              .tolerance = 0.05,
                              .burst = 250_ms,
                              .promise_burst = 250_ms,
                              .unpriced_burst = 20_ms};
  config::LinuxControl control;
  control.interfaces = {"left", "right", "narrow"};
  control.rates.fill(1000);
  t.routers[0].linux_control = control;
  t.routers[0].fib = config::FibSize{.ipv4 = 1000, .ipv6 = 1000};
  return t;
}

// Its customer has another number when it leaves, and that number may be beyond the table.
TEST(Reconfigure, CustomersGoWhileAPacketWaitsForANeighbour) {
  config::Topology t = edge(kInstrumented ? 300 : 20'001);
  World w(1, t, {.linux_control = true});
  RouteTable& routes = *w.router().routes();
  Route route{.distance = 0};
  route.paths.push_back({.link = kRight, .gateway = {}});
  routes.set_route(*config::parse_ipv4_prefix("10.0.2.0/24"), route);
  routes.commit();
  const fcp::Header header{
      .rtt_ns = 20'000'000, .preload = -1, .balance = 0.2F / 1500, .slot = 1};  // 0.2 $
  std::array<uint8_t, fcp::kHeaderSize> bytes{};
  fcp::store(header, bytes.data());
  w.arrive(kLeft, fcp({.destination = "10.0.2.9", .header = bytes.data()}));
  w.poll(w.now);
  ASSERT_EQ(w.snapshot().punt->waiting, 1U);
  reload(w, t, edge(3));
  routes.set_neighbour(kRight, config::Ipv4{ipv4("10.0.2.9")}, {2, 0, 0, 0, 2, 9});
  routes.commit();
  w.poll(w.now + 20_ms);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
  EXPECT_TRUE(w.snapshot().conserved());
}

TEST(Reconfigure, ARateChangesWhilePacketsWait) {
  config::Topology t = topology();
  right(t).rate = 8_Mbps;  // 1 B/us
  World w(1, t);
  for (uint32_t i = 0; i < 20; ++i) w.arrive(kLeft, numbered(1, i, 972));  // 1000 B datagrams
  w.run_until(w.now + 5'500_us);
  const uint64_t held = w.snapshot().links[kRight].held_packets;
  EXPECT_EQ(held, 14U);
  config::Topology faster = t;
  right(faster).rate = 80_Mbps;
  const Nanos change = w.now;
  reload(w, t, faster);
  EXPECT_EQ(w.snapshot().links[kRight].held_packets, held);
  EXPECT_EQ(w.snapshot().links[kRight].rate, 80_Mbps);
  w.run_until(w.now + 1_s);
  const auto when = w.port(kRight).when;
  ASSERT_EQ(when.size(), 20U);
  EXPECT_EQ(when[6] - change, 500_us) << "the packet in transmission ends at its own rate";
  EXPECT_EQ(when[19] - when[6], 1'300_us);
  const auto sent = w.sent(kRight);
  for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(number_of(sent[i]), i);
}

TEST(Reconfigure, ALargerBufferTakesLargerRings) {
  config::Topology t = topology();
  right(t).rate = 8_Mbps;
  right(t).buffer = Bytes(30'000);
  World w(2, t);
  const auto fill = [&](uint32_t from, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) {
      w.arrive(kLeft, numbered(i % 2, from + i), i % 2);
      if (i % 32 == 31) w.poll(w.now + 1_us);
    }
    w.poll(w.now + 1_us);
  };
  fill(0, 60);
  config::Topology larger = t;
  right(larger).buffer = Bytes(3'000'000);
  reload(w, t, larger);
  fill(60, 3000);
  EXPECT_EQ(w.snapshot().dropped(), 0U);
  w.run_until(w.now + 10_s);
  const auto sent = w.sent(kRight);
  ASSERT_EQ(sent.size(), 3060U);
  std::map<unsigned, uint32_t> next{{0, 0}, {1, 1}};
  for (const Frame& f : sent) {
    EXPECT_EQ(number_of(f), next[flow_of(f)]);
    next[flow_of(f)] += 2;
  }
}

TEST(Reconfigure, ASmallerBufferKeepsWhatWaits) {
  config::Topology t = topology();
  right(t).rate = 8_Mbps;
  World w(1, t);
  for (uint32_t i = 0; i < 100; ++i) w.arrive(kLeft, numbered(1, i));
  w.poll(w.now);
  config::Topology smaller = t;
  right(smaller).buffer = Bytes(4000);
  reload(w, t, smaller);
  w.arrive(kLeft, numbered(1, 100));
  w.run_until(w.now + 1_s);
  EXPECT_EQ(w.sent(kRight).size(), 100U);
  EXPECT_EQ(w.drops(DropReason::kQueueFull), 1U);
}

TEST(Reconfigure, RoutesChangeForTheNextPacket) {
  config::Topology t = topology();
  World w(1, t);
  const Frame frame = v4({.destination = "172.16.5.9"});
  w.arrive(kLeft, frame);
  w.run_until(w.now + 1_ms);
  EXPECT_EQ(w.sent(kNarrow).size(), 1U);
  config::Topology wanted = t;
  for (auto& route : wanted.routers[0].ipv4_routes)
    if (route.prefix.length == 24) route.link = kRight;
  reload(w, t, wanted);
  w.arrive(kLeft, frame);
  w.run_until(w.now + 1_ms);
  EXPECT_EQ(w.sent(kNarrow).size(), 0U);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
}

TEST(Reconfigure, ALawKeepsItsPriceAndTakesItsParameters) {
  config::Topology t = topology();
  World w(1, t);
  for (int i = 0; i < 200; ++i) {
    w.arrive(kLeft, fcp({.price = 1e-3F, .balance = 1e-3F}));
    w.run_until(w.now + 200_us);
  }
  const auto price = [&] { return w.snapshot().links[kRight].gauges[0].value; };
  const double before = price();
  EXPECT_GT(before, 1e-9);
  config::Topology wanted = t;
  wanted.links[kRight].directions[0].law.params[0] = 5;  // alpha
  reload(w, t, wanted);
  EXPECT_EQ(price(), before);
  EXPECT_GT(w.snapshot().links[kRight].stamped, 100U);
  w.sent(kRight);
}

TEST(Reconfigure, AnotherLawBeginsAnewAndKeepsTheQueue) {
  config::Topology t = topology();
  right(t).rate = 8_Mbps;
  World w(1, t);
  for (const char* name : {"acc", "tcp", "none", "rcp", "fcp", "none", "acc", "xcp", "fcp"}) {
    for (uint32_t i = 0; i < 10; ++i) w.arrive(kLeft, numbered(1, i));
    w.poll(w.now + 1_us);
    config::Topology wanted = t;
    const Protocol* p = find_protocol(name);
    right(wanted).law = {name,
                         p != nullptr ? preset_values(*p, true, kDefaultPreset) : ParamValues()};
    const uint64_t held = w.snapshot().links[kRight].held_packets;
    reload(w, t, wanted);
    EXPECT_EQ(w.snapshot().links[kRight].held_packets, held) << name;
    for (uint32_t i = 10; i < 15; ++i) w.arrive(kLeft, numbered(1, i));
    w.run_until(w.now + 1_s);
    const auto sent = w.sent(kRight);
    ASSERT_EQ(sent.size(), 15U) << name;
    for (uint32_t i = 0; i < 15; ++i) EXPECT_EQ(number_of(sent[i]), i) << name;
  }
}

TEST(Reconfigure, ARefusedChangeNamesAllReasonsAndChangesNothing) {
  config::Topology t = topology();
  World w(1, t);
  config::Topology wanted = t;
  wanted.links[kRight].mtu = 1400;
  wanted.routers[0].lcores = {5};
  right(wanted).rate = 1_Mbps;
  const auto change = w.router().prepare(t, wanted);
  ASSERT_FALSE(change);
  EXPECT_NE(change.error().find("mtu"), std::string::npos);
  EXPECT_NE(change.error().find("lcores"), std::string::npos);
  EXPECT_EQ(w.snapshot().links[kRight].rate, right(t).rate);
}

TEST(Reconfigure, LinksMayComeInAnotherOrder) {
  config::Topology t = topology();
  World w(1, t);
  config::Topology wanted = t;
  std::swap(wanted.routers[0].links[0], wanted.routers[0].links[2]);
  right(wanted).rate = 8_Mbps;
  reload(w, t, wanted);
  w.arrive(kLeft, plain(500));
  w.run_until(w.now + 1_s);
  EXPECT_EQ(w.sent(kRight).size(), 1U);
  EXPECT_EQ(w.snapshot().links[kRight].rate, 8_Mbps);
}

// --- classes ------------------------------------------------------------------------------------

constexpr unsigned kSentFlows = 12;

/// Some classes by port, the last one for the rest, or none at all.
std::vector<config::LinkClass> random_classes(std::mt19937& random) {
  const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::vector<config::LinkClass> all;
  const unsigned n = draw(6);
  if (n == 0) return all;
  for (unsigned c = 0; c < n; ++c) {
    config::LinkClass one;
    one.rule.name = std::string(1, static_cast<char>('a' + draw(8)));
    if (std::ranges::any_of(all, [&](const auto& o) { return o.rule.name == one.rule.name; }))
      continue;
    for (unsigned k = 0; k <= draw(3); ++k) one.match.port.push_back(1000 + draw(kSentFlows));
    switch (draw(4)) {
      case 0:
        one.rule.policy = PricingPolicy::kPriority;
        break;
      case 1:
        one.rule.policy = PricingPolicy::kLegacy;
        one.rule.share = 0.2;
        one.rule.discipline = LegacyQueue::kDropTail;
        break;
      case 2:
        one.rule.policy = PricingPolicy::kStability;
        break;
      default:
        one.rule.weight = 0.1 * (1 + draw(5));
    }
    all.push_back(one);
  }
  config::LinkClass last;
  last.rule.name = draw(2) == 0 ? "rest" : "other";
  all.push_back(last);
  return all;
}

class ReconfigureClasses : public ::testing::TestWithParam<unsigned> {};

TEST_P(ReconfigureClasses, LoseAndReorderNothing) {
  const unsigned workers = GetParam();
  for (unsigned seed = 1; seed <= (kInstrumented ? 1 : 4); ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    config::Topology t = topology();
    right(t).rate = 8_Mbps;
    right(t).buffer = Bytes(200'000);
    World w(workers, t);
    uint32_t number[kSentFlows] = {}, next[kSentFlows] = {};
    uint64_t out = 0, in = 0;
    const auto check = [&] {
      for (const Frame& f : w.sent(kRight)) {
        ASSERT_LT(flow_of(f), kSentFlows);
        ASSERT_EQ(number_of(f), next[flow_of(f)]) << "flow " << flow_of(f) << " seed " << seed;
        ++next[flow_of(f)];
        ++out;
      }
    };
    for (int step = 0; step < (kInstrumented ? 100 : 400); ++step) {
      for (unsigned k = draw(30); k > 0 && in - out < 300; --k) {
        const unsigned flow = draw(kSentFlows);  // a flow's packets arrive by one worker
        w.arrive(kLeft, numbered(flow, number[flow]++, 60 + draw(300)), flow % workers);
        ++in;
      }
      w.run_until(w.now + Nanos(draw(4'000'000)));
      check();
      if (draw(3) == 0) {
        config::Topology wanted = t;
        if (draw(2) == 0) right(wanted).classes = random_classes(random);
        if (draw(4) == 0) right(wanted).rate = BitRate(4'000'000 + draw(8'000'000));
        if (draw(8) == 0) right(wanted).buffer = Bytes(200'000 + draw(400'000));
        reload(w, t, wanted);
        ASSERT_EQ(w.snapshot().links[kRight].held_packets, in - out) << seed;
      }
    }
    w.run_until(w.now + 10_s);
    check();
    EXPECT_EQ(out, in) << "seed " << seed;
    EXPECT_EQ(w.snapshot().dropped(), 0U);
    EXPECT_EQ(w.snapshot().links[kRight].queued_bytes, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, ReconfigureClasses, ::testing::Values(1U, 3U));

}  // namespace
}  // namespace turnpike::router::test
