// SPDX-License-Identifier: BSD-3-Clause
// Lcores of a gateway that hand packets to each other, and tell each other of answers.
#include "router/gateway/hand_over.h"

#include <gtest/gtest.h>

#include "common/protocols/registry.h"
#include "router/gateway/gateway.h"
#include "router/gateway/peer_answers.h"
#include "tests/support/router_world.h"

namespace turnpike::gateway {
namespace {

namespace test = router::test;

/// Customers by address on the left: of lcore 0 10.0.1.0/25, of lcore 1 10.0.1.128/25.
config::Topology two_customers() {
  config::Topology t = test::topology();
  for (const uint32_t half : {0U, 128U}) {
    t.ipv4_customers.push_back(
        {{0x0a000100 + half, 25}, static_cast<uint32_t>(t.customers.size())});
    t.customers.push_back({.name = "c" + std::to_string(half), .budget = Budget(2)});
  }
  config::Gateway& g = t.gateways.emplace_back();
  g.core = {test::kRight};
  g.peers.push_back({.name = "peer", .address = 0x0a000202U, .ipv4 = {{0xac100000, 12}}});
  g.law = {"fcp", preset_values(*find_protocol("fcp"), /*link=*/false, "turnpike")};
  g.classes = {{.name = "default"}};
  g.mtu = Bytes(1500);
  g.limit = Bytes(10'000'000);
  g.target = 20_ms;
  g.interval = 100_ms;
  g.idle = 1_s;
  return t;
}

/// A router with two lcores, and its gateway.
struct TwoLcores {
  explicit TwoLcores(const config::Topology& t) : topology(t), world(2, topology) {
    auto made = Gateway::make(topology, 0, {.pool = world.pool(), .lcores = 2});
    if (!made) throw std::runtime_error(made.error());
    gateway = std::move(*made);
    for (unsigned w = 0; w < 2; ++w) world.router().worker(w).set_tunnels(&gateway->shard(w));
  }
  ~TwoLcores() {
    for (unsigned w = 0; w < 2; ++w) world.router().worker(w).set_tunnels(nullptr);
  }
  TwoLcores(const TwoLcores&) = delete;
  TwoLcores& operator=(const TwoLcores&) = delete;

  /// `count` packets of the customer of lcore 1, received by lcore 0.
  void arrive(unsigned count) {
    const test::Frame frame = test::v4({.source = "10.0.1.130", .destination = "172.16.0.1"});
    for (unsigned n = 0; n < count; ++n) world.arrive(test::kLeft, frame);
  }
  /// Lcore `w` alone works until it has taken what has arrived.
  void poll(unsigned w) {
    do {
      world.router().worker(w).poll(world.now);
    } while (!world.port(test::kLeft, w).in.empty());
  }
  [[nodiscard]] uint64_t entered() const { return gateway->total(&GatewayTotals::entered_packets); }

  config::Topology topology;
  test::World world;
  std::unique_ptr<Gateway> gateway;  // ends before the world, which counts its buffers
};

TEST(HandOver, PacketsReachTheLcoreOfTheirCustomer) {
  TwoLcores at(two_customers());
  at.arrive(10);
  at.poll(0);
  EXPECT_EQ(at.entered(), 0U);
  EXPECT_EQ(at.world.router().held(), 10U);
  EXPECT_TRUE(at.gateway->handed(1));
  at.poll(1);
  EXPECT_FALSE(at.gateway->handed(1));
  EXPECT_EQ(at.entered(), 10U);
  EXPECT_EQ(at.gateway->shard(1).totals().entered_packets.read(), 10U);
  EXPECT_EQ(at.gateway->customer(1).opened_flows.read(), 1U);
  EXPECT_EQ(at.gateway->total(&GatewayTotals::handed_over), 10U);
  EXPECT_TRUE(at.world.snapshot().conserved());
}

/// The other lcore does not work meanwhile, as one that the kernel has descheduled.
TEST(HandOver, PacketsBeyondTheRingAreDroppedWithTheirReason) {
  constexpr unsigned kSlots = router::EntryRing<HandOver::Packet>::kSlots;
  TwoLcores at(two_customers());
  at.arrive(kSlots + 100);
  at.poll(0);
  EXPECT_EQ(at.world.drops(router::DropReason::kLcoreQueue), 100U);
  EXPECT_EQ(at.world.router().held(), kSlots);
  // A burst of each ring in each poll, so that a lcore's own ports are not left alone.
  at.poll(1);
  EXPECT_EQ(at.entered(), router::kBurst);
  for (unsigned n = 0; n < kSlots / router::kBurst; ++n) at.poll(1);
  EXPECT_EQ(at.entered(), kSlots);
  EXPECT_TRUE(at.world.snapshot().conserved());
}

TEST(HandOver, PacketsThatAreLeftAtTheEndAreCounted) {
  TwoLcores at(two_customers());
  at.arrive(100);
  at.poll(0);
  for (unsigned w = 0; w < 2; ++w) at.world.router().worker(w).discard();
  EXPECT_EQ(at.world.drops(router::DropReason::kShutdown), 100U);
  EXPECT_EQ(at.world.router().held(), 0U);
  EXPECT_EQ(at.gateway->end(), 0U);
}

TEST(HandOver, ABypassedCustomersPacketsLeaveInOrder) {
  TwoLcores at(two_customers());
  at.gateway->bypass(1, true);
  constexpr unsigned kPackets = 20;
  for (unsigned n = 0; n < kPackets; ++n)
    at.world.arrive(test::kLeft, test::v4({.source = "10.0.1.130",
                                           .destination = "172.16.5.1",
                                           .id = static_cast<uint16_t>(n)}));
  at.poll(0);
  at.poll(1);
  const auto sent = at.world.sent(test::kNarrow);
  ASSERT_EQ(sent.size(), kPackets);
  for (unsigned n = 0; n < kPackets; ++n) {
    EXPECT_EQ(wire::load_be16(&sent[n][wire::kEthernetSize + 4]), n);
    EXPECT_EQ(sent[n][wire::kEthernetSize + wire::kIpv4TtlAt], 63) << "decremented once";
    EXPECT_EQ(test::unsound(sent[n]), "");
  }
}

TEST(PeerAnswers, AreThoseOfAllLcores) {
  PeerAnswers answers(3, 9);
  EXPECT_FALSE(answers.within(8, 1_s, 10_s));
  answers.note(2, 8, 10_s);
  EXPECT_TRUE(answers.within(8, 1_s, 10_s + 999_ms));
  EXPECT_FALSE(answers.within(8, 1_s, 11_s));
  EXPECT_FALSE(answers.within(7, 1_s, 10_s));
  answers.note(0, 8, 12_s);
  EXPECT_TRUE(answers.within(8, 1_s, 12_s));
}

}  // namespace
}  // namespace turnpike::gateway
