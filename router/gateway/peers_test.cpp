// SPDX-License-Identifier: BSD-3-Clause
// The MTU of the path to a peer: claims that hold, and claims that an answer refutes.
#include "router/gateway/peers.h"

#include <optional>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "tests/support/eal.h"

namespace turnpike::gateway {
namespace {

constexpr uint16_t kHeaders = 84;

class MtuClaims : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = config::load_text(
        "hosts: { anna: { budget: 1 $/s }, server: {} }\n"
        "routers: { west: {}, east: {} }\n"
        "links:\n"
        "  anna: { ends: [anna, west], rate: 1 Gbps }\n"
        "  core: { ends: [west, east], rate: 1 Gbps, law: fcp, mtu: 1640 }\n"
        "  server: { ends: [east, server], rate: 1 Gbps }\n"
        "gateways: { west: { core: core, peers: { east: {} } }, east: { core: core, peers: { west: "
        "{} } } }\n",
        "test");
    ASSERT_TRUE(loaded) << loaded.error().front().text();
    topology = std::move(*loaded);
    auto made = Peers::make(topology, 0, {kHeaders, 104}, -1);
    ASSERT_TRUE(made) << made.error();
    peers.emplace(std::move(*made));
  }
  void claim(uint16_t mtu, Nanos until) {
    (*peers)[0].claim = {.until = until, .flow = 1, .sequence = 7, .mtu = mtu};
  }
  [[nodiscard]] unsigned mtu() const { return (*peers)[0].inner_mtu + kHeaders; }

  config::Topology topology;
  std::optional<Peers> peers;
};

TEST_F(MtuClaims, HoldOnceTheirPacketCountsAsLost) {
  claim(1400, 30_ms);
  EXPECT_EQ(peers->next_claim(), 30_ms);
  EXPECT_EQ(peers->settle_claims(29_ms), 0U);
  EXPECT_EQ(mtu(), 1640U);
  EXPECT_EQ(peers->settle_claims(30_ms), 1U);
  EXPECT_EQ(mtu(), 1400U);
  EXPECT_EQ(peers->next_claim(), kNever);
  peers->forget_mtus(601_s);
  EXPECT_EQ(mtu(), 1640U);
}

TEST_F(MtuClaims, EndWithTheAnswerOfTheirPacket) {
  claim(1400, 30_ms);
  peers->refute_claim(0);
  EXPECT_EQ(peers->settle_claims(30_ms), 0U);
  EXPECT_EQ(mtu(), 1640U);
}

/// The MTU that was known before comes back.
TEST_F(MtuClaims, ALateAnswerTakesThemBack) {
  claim(1500, 30_ms);
  EXPECT_EQ(peers->settle_claims(30_ms), 1U);
  claim(1400, 60_ms);
  EXPECT_EQ(peers->settle_claims(60_ms), 1U);
  EXPECT_EQ(mtu(), 1400U);
  peers->refute_claim(0);
  EXPECT_EQ(mtu(), 1500U);
  peers->forget_mtus(601_s);
  EXPECT_EQ(mtu(), 1640U);
}

TEST_F(MtuClaims, RaiseNothing) {
  claim(1500, 30_ms);
  EXPECT_EQ(peers->settle_claims(30_ms), 1U);
  EXPECT_FALSE(peers->would_limit(0, 1500));
  EXPECT_TRUE(peers->would_limit(0, 0)) << "576 B";
  claim(1600, 60_ms);
  EXPECT_EQ(peers->settle_claims(60_ms), 0U);
  EXPECT_EQ(mtu(), 1500U);
}

}  // namespace
}  // namespace turnpike::gateway
