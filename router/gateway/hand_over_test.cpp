// SPDX-License-Identifier: BSD-3-Clause
// Lcores of a gateway that hand packets to each other, and tell each other of answers.
#include "router/gateway/hand_over.h"

#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "router/gateway/gateway.h"
#include "router/gateway/peer_answers.h"
#include "tests/support/router_world.h"

namespace turnpike::gateway {
namespace {

namespace test = router::test;

constexpr const char* kSecond = "10.0.1.66";  // of the second customer

/// Customers by address on the left, 10.0.1.0/26 and those after it: the first and the third are
/// lcore 0's, the others lcore 1's.
config::Topology customers() {
  config::Topology t = test::topology();
  for (uint32_t c = 0; c < 4; ++c) {
    t.ipv4_customers.push_back({{0x0a000100 + 64 * c, 26}, c});
    t.customers.push_back({.name = "c" + std::to_string(c), .budget = Budget(2)});
  }
  test::add_gateway(t);
  return t;
}

/// A router with two lcores, and its gateway.
struct TwoLcores {
  explicit TwoLcores(config::Topology t) : topology(std::move(t)), world(2, topology) {
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

  /// `count` packets of a customer of lcore 1, received by lcore 0.
  void arrive(unsigned count, const char* source = kSecond) {
    const test::Frame frame = test::v4({.source = source, .destination = "172.16.0.1"});
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
  TwoLcores at(customers());
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
TEST(HandOver, OneCustomerFillsHalfOfARing) {
  constexpr unsigned kHalf = (HandOver::Ring::kSlots + 1) / 2;
  TwoLcores at(customers());
  at.arrive(kHalf + 100);
  at.poll(0);
  EXPECT_EQ(at.world.drops(router::DropReason::kLcoreQueue), 100U);
  EXPECT_EQ(at.world.router().held(), kHalf);
  // A burst of each ring in each poll, so that an lcore's own ports are not left alone.
  at.poll(1);
  EXPECT_EQ(at.entered(), router::kBurst);
  for (unsigned n = 1; n < kHalf / router::kBurst; ++n) at.poll(1);
  EXPECT_EQ(at.entered(), kHalf);
  EXPECT_TRUE(at.world.snapshot().conserved());
}

/// While the other lcore takes four packets, 36 of one customer come and one of another, which asks
/// for less than half.
TEST(HandOver, AFloodLeavesOthersTheirPlaces) {
  TwoLcores at(customers());
  constexpr unsigned kRounds = 200;
  for (unsigned round = 0; round < kRounds; ++round) {
    at.arrive(9 * router::kBurst);
    at.arrive(router::kBurst / 4, "10.0.1.200");
    at.poll(0);
    at.poll(1);
    at.gateway->end();  // keeps the tunnels' queues, which are not what this is about, empty
  }
  for (unsigned n = 0; n < HandOver::Ring::kSlots / router::kBurst; ++n) at.poll(1);
  constexpr uint64_t kSize = 58;  // B of a datagram
  EXPECT_EQ(at.gateway->traffic(3).offered_bytes.read(), kRounds * router::kBurst / 4 * kSize);
  EXPECT_GT(at.world.drops(router::DropReason::kLcoreQueue), kRounds * 7 * router::kBurst);
}

/// Two customers want the queues of an lcore, which has its part of half of the buffers.
TEST(HandOver, LcoresDivideTheBuffersThatMayWait) {
  TwoLcores at(customers());
  for (const char* source : {kSecond, "10.0.1.200"}) {
    const test::Frame frame = test::v4({.source = source, .destination = "172.16.0.1"});
    for (unsigned n = 0; n < 3000; ++n) at.world.arrive(test::kLeft, frame, 1);
  }
  at.poll(1);
  unsigned waiting = 0;
  for (const size_t c : {1U, 3U}) waiting += at.gateway->tunnels(c)[0]->queue().packets();
  EXPECT_GT(waiting, 2000U);
  EXPECT_LE(waiting, at.world.pool()->size / 2 / 2);
}

TEST(HandOver, PacketsThatAreLeftAtTheEndAreCounted) {
  TwoLcores at(customers());
  at.arrive(100);
  at.poll(0);
  for (unsigned w = 0; w < 2; ++w) at.world.router().worker(w).discard();
  EXPECT_EQ(at.world.drops(router::DropReason::kShutdown), 100U);
  EXPECT_EQ(at.world.router().held(), 0U);
  EXPECT_EQ(at.gateway->end(), 0U);
}

TEST(HandOver, ABypassedCustomersPacketsLeaveInOrder) {
  TwoLcores at(customers());
  at.gateway->bypass(1, true);
  constexpr unsigned kPackets = 20;
  for (unsigned n = 0; n < kPackets; ++n)
    at.world.arrive(
        test::kLeft,
        test::v4({.source = kSecond, .destination = "172.16.5.1", .id = static_cast<uint16_t>(n)}));
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

TEST(HandOver, LcoresWorkAtTheSameTime) {
  TwoLcores at(customers());
  constexpr unsigned kPackets = 2000;  // of each customer, at each lcore
  for (unsigned w = 0; w < 2; ++w)
    for (unsigned n = 0; n < kPackets; ++n)
      for (const char* source : {"10.0.1.2", kSecond})
        at.world.arrive(test::kLeft, test::v4({.source = source, .destination = "172.16.0.1"}), w);
  std::array<std::atomic<bool>, 2> received{};
  const auto work = [&](unsigned w) {
    router::Worker& worker = at.world.router().worker(w);
    const auto done = [&] { return received[0] && received[1] && !at.gateway->handed(w); };
    for (Nanos now = at.world.now; !done(); now += 1_us) {
      worker.poll(now);
      received[w] = at.world.port(test::kLeft, w).in.empty();
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  for (unsigned w = 0; w < 2; ++w) at.poll(w);  // what was handed over last
  EXPECT_EQ(at.entered() + at.world.drops(router::DropReason::kLcoreQueue), 4 * kPackets);
  EXPECT_GT(at.gateway->total(&GatewayTotals::handed_over), 0U);
  EXPECT_TRUE(at.world.snapshot().conserved());
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
