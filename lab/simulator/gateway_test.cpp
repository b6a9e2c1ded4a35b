// SPDX-License-Identifier: BSD-3-Clause
// Gateways on the virtual clock: budgets that change, peers that fall silent, tunnels that close.
#include <string>

#include "common/units/instrumented.h"
#include "tests/support/gateway_world.h"

namespace turnpike::lab {
namespace {

/// Two customers of `west` send UDP at this rate each to a server behind `east`; 100 Mbps between.
config::Topology two_sites(const std::string& gateway = "", const std::string& rate = "80 Mbps",
                           const std::string& scheme = "fcp") {
  const std::string streams = "rate: { l2: " + rate + " }, frames: { sizes: 1000 B }, flows: 4";
  const std::string more = gateway.empty() ? "" : ", " + gateway;
  return topology_of(
      "run: { duration: 60 s }\n"
      "hosts: { anna: { budget: 1 $/s }, bert: { budget: 1 $/s }, server: {} }\n"
      "routers: { west: {}, east: {} }\n"
      "links:\n"
      "  anna: { ends: [anna, west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "  bert: { ends: [bert, west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "  core: { ends: [west, east], rate: 100 Mbps, delay: 5 ms, buffer: 1 MB, law: " +
      scheme +
      " }\n"
      "  server: { ends: [east, server], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "customers:\n"
      "  anna: { link: anna, budget: 1 $/s }\n"
      "  bert: { link: bert, budget: 1 $/s }\n"
      "gateways:\n"
      "  west: { core: core, protocol: " +
      scheme + ", peers: { east: {} }" + more +
      " }\n"
      "  east: { core: core, protocol: " +
      scheme +
      ", peers: { west: {} } }\n"
      "traffic: { streams: {\n"
      "  anna: { from: anna, to: server, " +
      streams +
      " },\n"
      "  bert: { from: bert, to: server, " +
      streams + " } } }\n");
}

/// The round trip is 10 ms.
TEST_F(GatewayWorld, AChangedBudgetIsFeltWithinTenRoundTrips) {
  for (const double rate : {100e6, 1e9}) {
    if (kInstrumented && rate > 500e6) continue;
    SCOPED_TRACE(rate);
    config::Topology t = two_sites("", rate > 500e6 ? "800 Mbps" : "80 Mbps");
    for (config::Direction& core : t.links[2].directions) core.rate = BitRate(rate);
    make(std::move(t));
    const double anna = sent(0, 1_s, 2_s);
    EXPECT_NEAR(anna, rate / 8 / 2, 0.03 * rate / 8 / 2);
    config::Topology wanted = topology;
    wanted.customers[1].budget = Budget(3);
    ASSERT_TRUE(world->reload(wanted).has_value());
    const double less = sent(0, 2_s + 100_ms, 2_s + 600_ms);
    EXPECT_NEAR(less, rate / 8 / 4 / 2, 0.05 * rate / 8 / 4 / 2);
  }
}

/// Schemes without budgets give all tunnels the same rate.
TEST_F(GatewayWorld, TunnelsOfOtherSchemesShareTheCore) {
  for (const std::string scheme : {"xcp", "acc", "rcp"}) {
    SCOPED_TRACE(scheme);
    make(two_sites("", "80 Mbps", scheme));
    const double anna = sent(0, 3_s, 4_s), bert = sent(1, 4_s, 5_s);
    EXPECT_NEAR(anna / bert, 1, 0.05);
    EXPECT_GE((anna + bert) * 8 / 100e6, 0.9);
    EXPECT_LE((anna + bert) * 8 / 100e6, 1);
  }
}

TEST_F(GatewayWorld, ClassesDivideABudgetByShare) {
  config::Topology t =
      two_sites("classes: { voice: { dscp: 46, share: 3 }, bulk: { dscp: [ 8, 10 ] } }");
  t.streams[1].from = 0;  // anna sends both
  t.streams[1].dscp = 46;
  t.streams[0].dscp = 10;
  make(std::move(t));
  // Both send 80 Mbps of 100. A class that needs less leaves the rest to the other: voice may send
  // 75 of them, and bulk gets 25.
  ASSERT_EQ(west().tunnels(0).size(), 3U);
  world->run_until(2_s);
  const auto carried = [&](size_t k) { return west().tunnels(0)[k]->carried(); };
  const uint64_t before[] = {carried(0), carried(1)};
  world->run_until(4_s);
  const auto voice = static_cast<double>(carried(0) - before[0]);
  const auto bulk = static_cast<double>(carried(1) - before[1]);
  EXPECT_NEAR(voice / bulk, 3, 0.15);
  EXPECT_EQ(carried(2), 0U) << "the class of all other packets";
}

TEST_F(GatewayWorld, OneThatStopsLeavesItsShareToTheOther) {
  config::Topology t = two_sites();
  t.streams[1].stop = 2_s;
  make(std::move(t));
  EXPECT_NEAR(sent(0, 1_s, 2_s), 100e6 / 8 / 2, 0.03 * 100e6 / 8 / 2);
  // Its 80 Mbps of frames, with the headers of tunnels.
  EXPECT_GT(sent(0, 4_s, 5_s), 0.8 * 100e6 / 8);
}

/// Pacing decides who sends when, so that a span of 1 s may hold a packet more or less.
constexpr double kCeilingTolerance = 0.01;

TEST_F(GatewayWorld, ACeilingBoundsWhatACustomerSends) {
  config::Topology t = two_sites();
  t.customers[0].ceiling = 20_Mbps;
  make(std::move(t));
  EXPECT_NEAR(sent(0, 1_s, 2_s), 20e6 / 8, kCeilingTolerance * 20e6 / 8);
  // The other, who sends 80 Mbps of frames, gets the rest.
  EXPECT_GT(sent(1, 2_s, 3_s), 0.97 * 80e6 / 8);

  config::Topology wanted = topology;
  wanted.customers[0].ceiling = 5_Mbps;
  ASSERT_TRUE(world->reload(wanted).has_value());
  EXPECT_NEAR(sent(0, 4_s, 5_s), 5e6 / 8, kCeilingTolerance * 5e6 / 8);
  wanted.customers[0].ceiling = BitRate(0);
  ASSERT_TRUE(world->reload(wanted).has_value());
  EXPECT_NEAR(sent(0, 6_s, 7_s), 100e6 / 8 / 2, 0.03 * 100e6 / 8 / 2);
}

/// Both gateways have these keys, numbered.
void seal(config::Topology& t, const std::vector<uint8_t>& west, const std::vector<uint8_t>& east) {
  for (size_t g = 0; g < 2; ++g) {
    config::Gateway& gateway = t.gateways[g];
    gateway.security = config::GatewaySecurity{.key_file = "none"};
    gateway.silent_peer = config::SilentPeer::kDrop;
    gateway.peers[0].keys.clear();
    for (const uint8_t number : g == 0 ? west : east)
      gateway.peers[0].keys.emplace_back(std::vector<uint8_t>(SecretBytes::kMaxSize, number));
  }
}

/// Datagrams of 982 B and headers of 84 B get 32 B more.
TEST_F(GatewayWorld, SealedTunnelsHaveTheSameShares) {
  config::Topology t = two_sites();
  seal(t, {1}, {1});
  make(std::move(t));
  const double anna = sent(0, 1_s, 2_s);
  EXPECT_NEAR(anna, 100e6 / 8 / 2, 0.03 * 100e6 / 8 / 2);
  EXPECT_NEAR(sent(1, 2_s, 3_s), anna, 0.03 * anna);
  EXPECT_EQ(west().shard(0).peers()[0].inner_mtu, 1500 - 84 - 32);
  EXPECT_GT(total(1, &Totals::released_packets), 10'000U);
  EXPECT_EQ(
      total(1, &Totals::bad_packets) + total(1, &Totals::forged) + total(1, &Totals::unsealed), 0U);
  EXPECT_EQ(total(0, &Totals::not_sealed), 0U);
}

/// 10 Mbps: no queue drops a packet, and packets of each state are on their way in the next.
TEST_F(GatewayWorld, KeysRotateWithoutLoss) {
  config::Topology t = two_sites("", "5 Mbps");
  t.streams[0].stop = t.streams[1].stop = 5_s;
  seal(t, {1}, {1});
  make(std::move(t));
  Nanos at = 1_s;
  const auto step = [&](const std::vector<uint8_t>& west, const std::vector<uint8_t>& east) {
    world->run_until(at += 500_ms);
    config::Topology wanted = topology;
    seal(wanted, west, east);
    const auto done = world->reload(wanted);
    ASSERT_TRUE(done.has_value()) << done.error();
  };
  step({1}, {1, 2});
  step({1, 2}, {1, 2});
  step({2, 1}, {1, 2});
  step({2, 1}, {2, 1});
  step({2}, {2, 1});
  step({2}, {2});
  world->run_until(7_s);
  EXPECT_GT(total(1, &Totals::released_packets), 1000U);
  EXPECT_EQ(total(1, &Totals::released_packets), total(0, &Totals::entered_packets));
  EXPECT_EQ(total(1, &Totals::forged) + total(0, &Totals::forged), 0U);
}

TEST_F(GatewayWorld, NothingPassesBetweenDifferentKeys) {
  config::Topology t = two_sites("", "1 Mbps");
  seal(t, {1}, {2});
  make(std::move(t));
  world->run_until(3_s);
  EXPECT_EQ(total(1, &Totals::released_packets), 0U);
  EXPECT_GT(total(0, &Totals::forged), 0U) << "answers to its SYNs";
  EXPECT_EQ(total(0, &Totals::unknown_keys), total(0, &Totals::forged));
  EXPECT_TRUE(west().silent(0));
  EXPECT_EQ(total(0, &Totals::outside), 0U) << "nothing goes in the clear";

  config::Topology wanted = topology;
  seal(wanted, {2}, {2});
  ASSERT_TRUE(world->reload(wanted).has_value());
  world->run_until(6_s);
  EXPECT_GT(total(1, &Totals::released_packets), 100U);
}

TEST_F(GatewayWorld, ASealedPacketIsNoneForAGatewayWithoutKeys) {
  for (const size_t sealed : {0U, 1U}) {
    config::Topology t = two_sites("", "1 Mbps");
    seal(t, {1}, {1});
    t.gateways[1 - sealed].security.reset();
    make(std::move(t));
    world->run_until(2_s);
    EXPECT_EQ(total(1, &Totals::released_packets), 0U);
    EXPECT_GT(total(sealed, &Totals::unsealed), 0U) << "of answers, and of packets";
  }
}

/// anna sends 60 Mbps to one site and `rate` to another; 40 Mbps are the most.
config::Topology three_sites(const std::string& rate,
                             const std::string& west = "peers: { east: {}, north: {} }") {
  const std::string frames = ", frames: { sizes: 1000 B }, flows: 4 }";
  return topology_of(
      "run: { duration: 60 s }\n"
      "hosts: { anna: { budget: 1 $/s }, near: {}, far: {} }\n"
      "routers: { west: {}, east: {}, north: {} }\n"
      "links:\n"
      "  anna: { ends: [anna, west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "  core-east: { ends: [west, east], rate: 100 Mbps, delay: 5 ms, buffer: 1 MB, law: fcp }\n"
      "  core-north: { ends: [west, north], rate: 100 Mbps, delay: 20 ms, buffer: 1 MB, law: fcp "
      "}\n"
      "  near: { ends: [east, near], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "  far: { ends: [north, far], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "customers: { anna: { link: anna, budget: 1 $/s, ceiling: 40 Mbps } }\n"
      "gateways:\n"
      "  west: { core: [core-east, core-north], " +
      west +
      " }\n"
      "  east: { core: core-east, peers: { west: {} } }\n"
      "  north: { core: core-north, peers: { west: {} } }\n"
      "traffic: { streams: {\n"
      "  near: { from: anna, to: near, rate: { l2: 60 Mbps }" +
      frames + ",\n  far: { from: anna, to: far, rate: { l2: " + rate + " }" + frames + " } }\n");
}

TEST_F(GatewayWorld, ACeilingIsSharedAmongPeers) {
  make(three_sites("60 Mbps"));
  EXPECT_NEAR(sent(0, 1_s, 3_s), 2 * 40e6 / 8, kCeilingTolerance * 2 * 40e6 / 8);
  const auto released = [&](size_t g) {
    return static_cast<double>(total(g, &Totals::released_bytes));
  };
  const double east = released(1), north = released(2);
  world->run_until(5_s);
  EXPECT_NEAR((released(1) - east) / (released(2) - north), 1, 0.03);
}

TEST_F(GatewayWorld, APeerThatIsSentLittleLeavesTheCeilingToTheOther) {
  make(three_sites("4 Mbps"));
  EXPECT_NEAR(sent(0, 1_s, 3_s), 2 * 40e6 / 8, kCeilingTolerance * 2 * 40e6 / 8);
  const auto before = static_cast<double>(total(2, &Totals::released_bytes));
  world->run_until(5_s);
  const auto after = static_cast<double>(total(2, &Totals::released_bytes));
  // Datagrams of frames of 1000 B have 982 B, or less with a VLAN tag.
  EXPECT_NEAR(after - before, 2 * 4e6 / 8 * 0.98, 0.02 * 2 * 4e6 / 8);
}

/// Far is behind no peer: packets for it would cross the core without a price.
TEST_F(GatewayWorld, NothingGoesToTheCoreOutsideOfTunnels) {
  const auto outside = static_cast<size_t>(router::DropReason::kOutsideTunnel);
  make(three_sites("4 Mbps", "peers: { east: {} }"));
  world->run_until(2_s);
  const router::Snapshot end = world->router(0).snapshot();
  EXPECT_TRUE(end.conserved());
  EXPECT_NEAR(static_cast<double>(end.drops[outside]), 2 * 4e6 / 8 / 1000, 10);
  EXPECT_EQ(end.links[2].in_packets, 0U) << "core-north";

  make(three_sites("4 Mbps", "peers: { east: {} }, outside: forward"));
  world->run_until(2_s);
  EXPECT_EQ(world->router(0).snapshot().drops[outside], 0U);
  EXPECT_GT(world->router(0).snapshot().links[2].in_packets, 900U);
}

TEST_F(GatewayWorld, PacketsWithinTheBudgetLeaveAtOnce) {
  make(two_sites("", "1 Mbps"));
  const auto waits = [this] {
    metrics::Histogram copy;
    copy.merge(west().waits());
    return copy;
  };
  world->run_until(2_s);
  const metrics::Histogram before = waits();
  world->run_until(4_s);
  const metrics::Histogram later = waits().since(before);
  EXPECT_GT(later.count(), 400U);
  EXPECT_EQ(later.max(), 0U);
}

TEST_F(GatewayWorld, IdleTunnelsClose) {
  config::Topology t = two_sites("idle: 1 s");
  t.streams[0].stop = t.streams[1].stop = 2_s;
  make(std::move(t));
  world->run_until(2_s);
  EXPECT_EQ(west().customer(0).active_flows.load(), 1U);
  world->run_until(5_s);
  EXPECT_EQ(west().customer(0).active_flows.load(), 0U);
  EXPECT_EQ(west().tunnels(0)[0]->waiting(), 0U);
}

/// East stands still for 3 s: packets go outside of tunnels meanwhile, and through them again soon.
TEST_F(GatewayWorld, ASilentPeerIsPassedByAndFoundAgain) {
  make(two_sites("", "1 Mbps"));
  world->run_until(1_s);
  EXPECT_FALSE(west().silent(0));
  EXPECT_EQ(total(0, &Totals::outside), 0U);
  world->stall_router(1, 3_s);
  world->run_until(3_s);
  EXPECT_TRUE(west().silent(0));
  EXPECT_GT(total(0, &Totals::outside), 0U);
  world->run_until(6_s);
  EXPECT_FALSE(west().silent(0));
  EXPECT_GT(sent(0, 6_s, 7_s), 1e6 / 8);  // with the headers of tunnels
}

constexpr size_t kCore = 2;  // of two_sites(): index of the link
constexpr double kHalf = 100e6 / 8 / 2;

TEST_F(GatewayWorld, ALongerOrShorterPathIsFollowed) {
  make(two_sites());
  EXPECT_NEAR(sent(0, 1_s, 2_s), kHalf, 0.03 * kHalf);
  world->set_path(kCore, 45_ms, 0);
  EXPECT_NEAR(sent(0, 4_s, 6_s), 2 * kHalf, 0.05 * 2 * kHalf) << "nine times the round trip";
  EXPECT_FALSE(west().silent(0));
  world->set_path(kCore, 5_ms, 0);
  EXPECT_NEAR(sent(0, 8_s, 9_s), kHalf, 0.05 * kHalf);
  for (const size_t c : {0, 1}) expect_accounted(c);
}

TEST_F(GatewayWorld, ALinkThatComesBackCarriesAllWithinTwoSeconds) {
  make(two_sites());
  world->run_until(2_s);
  world->set_path(kCore, 5_ms, 1);
  world->run_until(6_s);
  EXPECT_TRUE(west().silent(0));
  world->set_path(kCore, 5_ms, 0);
  EXPECT_NEAR(sent(0, 8_s, 9_s), kHalf, 0.05 * kHalf);
  EXPECT_TRUE(world->router(0).snapshot().conserved());
  for (const size_t c : {0, 1}) expect_accounted(c);
}

TEST_F(GatewayWorld, ALossyPathKeepsItsRate) {
  make(two_sites());
  world->set_path(kCore, 5_ms, 0.02);
  EXPECT_NEAR(sent(0, 2_s, 4_s), 2 * kHalf, 0.05 * 2 * kHalf);
  EXPECT_NEAR(static_cast<double>(west().customer(0).lost_packets.read()),
              0.02 * static_cast<double>(west().customer(0).sent_packets.read()),
              0.005 * static_cast<double>(west().customer(0).sent_packets.read()));
}

/// The link behind `middle` takes less than the gateways' own links.
TEST_F(GatewayWorld, ASmallerMtuOnTheWayIsLearnt) {
  for (const std::string version : {"4", "6"}) {
    std::string text =
        "run: { duration: 60 s }\n"
        "hosts: { anna: { budget: 1 $/s }, server: {} }\n"
        "routers: { west: {}, middle: {}, east: {} }\n"
        "links:\n"
        "  anna: { ends: [anna, west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
        "  near: { ends: [west, middle], rate: 100 Mbps, delay: 1 ms, buffer: 1 MB, law: fcp, mtu: "
        "1640 }\n"
        "  far: { ends: [middle, east], rate: 100 Mbps, delay: 5 ms, buffer: 1 MB, law: fcp, mtu: "
        "1400 }\n"
        "  server: { ends: [east, server], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
        "customers: { anna: { link: anna, budget: 1 $/s } }\n"
        "traffic: { streams: {\n"
        "  large: { from: anna, to: server, rate: { packets: 100 /s }, frames: { sizes: 1400 B "
        "} },\n"
        "  small: { from: anna, to: server, rate: { packets: 2000 /s }, frames: { sizes: 200 B "
        "} } } }\n"
        "gateways:\n"
        "  west: { core: near, peers: { east: { ip_version: ";
    text.append(version).append(" } } }\n  east: { core: far, peers: { west: { ip_version: ");
    text.append(version).append(" } } }\n");
    make(topology_of(text));
    world->run_until(2_s);
    EXPECT_EQ(west().shard(0).peers()[0].inner_mtu, 1400 - (version == "4" ? 84 : 104));
    EXPECT_EQ(total(0, &Totals::mtu_reductions), 1U);
    const auto too_big = static_cast<size_t>(router::DropReason::kTooBig);
    // The first error holds 1.25 round trips after its packet has left, 27 ms after the first
    // datagram: until then three large ones, and three packets of the small ones that have waited
    // for the handshake. The gateway itself refuses the large ones then.
    EXPECT_LE(world->router(1).snapshot().drops[too_big], 6U);
    EXPECT_NEAR(static_cast<double>(world->router(0).snapshot().drops[too_big]), 200, 5);
    // Nothing but the large ones is missing.
    EXPECT_NEAR(static_cast<double>(total(1, &Totals::released_packets)), 4000, 30);
  }
}

TEST_F(GatewayWorld, ASilentPeersPacketsMayBeDropped) {
  make(two_sites("silent_peer: drop", "1 Mbps"));
  world->run_until(1_s);
  world->stall_router(1, 3_s);
  world->run_until(3_s);
  EXPECT_EQ(total(0, &Totals::outside), 0U);
  const auto drops = world->router(0).snapshot().drops;
  EXPECT_GT(drops[static_cast<size_t>(router::DropReason::kPeerSilent)], 0U);
}

/// 80 Mbps each over 100 Mbps: what came was carried, dropped, or waits, and is dropped at the end.
TEST_F(GatewayWorld, AccountsForAllThatCustomersSend) {
  make(two_sites());
  world->run_until(3_s);
  expect_accounted(0);
  const uint64_t dropped = west().tunnels(0)[0]->queue().dropped();
  const uint32_t waiting = west().tunnels(0)[0]->queue().packets();
  ASSERT_GT(waiting, 0U);
  const uint32_t all = waiting + west().tunnels(1)[0]->queue().packets();
  EXPECT_EQ(west().end(), all);
  EXPECT_EQ(west().tunnels(0)[0]->queue().dropped(), dropped + waiting);
}

/// The price is the sum of both budgets over the rate, 0.16 $/MB.
TEST_F(GatewayWorld, KnowsThePricesThatACustomerPaid) {
  make(two_sites());
  world->run_until(1_s);
  const auto before = west().traffic(0).prices.read();
  const double spend = west().customer(0).spend.load();
  const uint64_t bytes = west().customer(0).sent_bytes.read();
  world->run_until(3_s);
  const auto paid = west().traffic(0).prices.read().since(before);
  EXPECT_EQ(paid.total(), west().customer(0).sent_bytes.read() - bytes);
  EXPECT_NEAR(paid.sum, west().customer(0).spend.load() - spend, 1e-9);
  EXPECT_NEAR(paid.quantile(0.5), 0.16e-6, 0.25 * 0.16e-6);
  EXPECT_GE(paid.quantile(0.95), paid.quantile(0.5));
}

TEST_F(GatewayWorld, KnowsWhoIsAtTheCeiling) {
  config::Topology t = two_sites();
  t.customers[0].ceiling = 20_Mbps;
  make(std::move(t));
  world->run_until(2_s);
  EXPECT_TRUE(west().tunnels(0)[0]->at_most());
  EXPECT_FALSE(west().tunnels(1)[0]->at_most());
}

TEST_F(GatewayWorld, ConservesPackets) {
  make(two_sites());
  world->run_until(2_s);
  for (size_t r = 0; r < 2; ++r) EXPECT_TRUE(world->router(r).snapshot().conserved());
  EXPECT_GT(total(1, &Totals::released_packets), 10'000U);
  EXPECT_LE(total(1, &Totals::released_packets), total(0, &Totals::entered_packets));
  EXPECT_EQ(total(1, &Totals::bad_packets) + total(1, &Totals::unknown_peers) +
                total(1, &Totals::out_of_buffers),
            0U);
}

}  // namespace
}  // namespace turnpike::lab
