// SPDX-License-Identifier: BSD-3-Clause
// Every byte arrives exactly once, whatever the cable does.
#include "sender/test_world.h"

namespace turnpike::sender::testing {
namespace {

config::Topology with(std::vector<config::Flow> flows) {
  config::Topology t = two_hosts();
  t.flows = std::move(flows);
  return t;
}

TEST(Delivery, OneFlowWithoutTrouble) {
  FixedLaw::reset(12e6);  // a full packet a millisecond
  World w(with({finite(1'000'000)}), {});
  w.run(10_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  const FlowOutcome& o = w.outcomes()[0];
  const auto packets = static_cast<uint32_t>((1'000'000 + 1427) / 1428);
  EXPECT_TRUE(o.completed);
  EXPECT_EQ(o.bytes, 1'000'000U);
  EXPECT_EQ(o.packets, packets);
  EXPECT_EQ(o.retransmissions, 0U);
  // Handshake, a packet a millisecond, and the last one's way there and back.
  EXPECT_NEAR(to_seconds(o.end), 0.020 + 0.001 * (packets - 1) + 0.020, 1e-6);
  EXPECT_EQ(w.totals(1).received_packets.read(), packets);
  EXPECT_EQ(w.totals(1).received_bytes.read(), 1'000'000U + packets * 72U);
  EXPECT_EQ(w.totals(0).acked_bytes.read(), w.totals(1).received_bytes.read());
  EXPECT_EQ(w.totals(0).lost_packets.read() + w.totals(0).timeouts.read(), 0U);
  EXPECT_EQ(w.totals(0).duplicate_acks.read() + w.totals(1).duplicate_packets.read(), 0U);
  EXPECT_EQ(w.totals(0).bad_packets.read() + w.totals(1).bad_packets.read(), 0U);
  w.expect_clean();
}

TEST(Delivery, TwentyPercentLossBothWays) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    FixedLaw::reset(50e6);
    World w(with({finite(300'000), finite(1), finite(1428), finite(77'777, 500_ms)}),
            {.loss = 0.2, .seed = seed});
    w.run(600_s);
    ASSERT_EQ(w.outcomes().size(), 4U) << "seed " << seed;
    uint64_t bytes = 0, packets = 0;
    for (const FlowOutcome& o : w.outcomes()) {
      EXPECT_TRUE(o.completed);
      bytes += o.bytes;
      packets += o.packets;
    }
    EXPECT_EQ(bytes, 300'000U + 1 + 1428 + 77'777);
    EXPECT_EQ(w.totals(1).received_packets.read(), packets);
    EXPECT_EQ(w.totals(1).received_bytes.read(), bytes + packets * 72);
    EXPECT_GT(w.totals(0).retransmitted_packets.read(), packets / 8);
    w.expect_clean();
  }
}

}  // namespace
}  // namespace turnpike::sender::testing
