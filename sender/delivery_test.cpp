// SPDX-License-Identifier: BSD-3-Clause
// Tests that every byte arrives exactly once despite loss, reordering and duplication.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

#include "common/dpdk/pool.h"
#include "common/units/instrumented.h"
#include "common/wire/layers.h"
#include "tests/support/sender_world.h"

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
  const auto packets = static_cast<uint32_t>((1'000'000 + 1415) / 1416);
  EXPECT_TRUE(o.completed);
  EXPECT_EQ(o.bytes, 1'000'000U);
  EXPECT_EQ(o.packets, packets);
  EXPECT_EQ(o.retransmissions, 0U);
  // Handshake, one packet per millisecond, and the last packet's RTT.
  EXPECT_NEAR(to_seconds(o.end), 0.020 + 0.001 * (packets - 1) + 0.020, 1e-6);
  EXPECT_EQ(w.totals(1).received_packets.read(), packets);
  EXPECT_EQ(w.totals(1).received_bytes.read(), 1'000'000U + packets * 84U);
  EXPECT_EQ(w.totals(0).acked_bytes.read(), w.totals(1).received_bytes.read());
  EXPECT_EQ(w.totals(0).lost_packets.read() + w.totals(0).timeouts.read(), 0U);
  EXPECT_EQ(w.totals(0).duplicate_acks.read() + w.totals(1).duplicate_packets.read(), 0U);
  EXPECT_EQ(w.totals(0).bad_packets.read() + w.totals(1).bad_packets.read(), 0U);
  w.expect_clean();
}

TEST(Delivery, TwentyPercentLossBothWays) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    FixedLaw::reset(50e6);
    World w(with({finite(300'000), finite(1), finite(1416), finite(77'777, 500_ms)}),
            {.loss = 0.2, .seed = seed});
    w.run(600_s);
    ASSERT_EQ(w.outcomes().size(), 4U) << "seed " << seed;
    uint64_t bytes = 0, packets = 0;
    for (const FlowOutcome& o : w.outcomes()) {
      EXPECT_TRUE(o.completed);
      bytes += o.bytes;
      packets += o.packets;
    }
    EXPECT_EQ(bytes, 300'000U + 1 + 1416 + 77'777);
    EXPECT_EQ(w.totals(1).received_packets.read(), packets);
    EXPECT_EQ(w.totals(1).received_bytes.read(), bytes + packets * 84);
    EXPECT_GT(w.totals(0).retransmitted_packets.read(), packets / 8);
    w.expect_clean();
  }
}

// Buffers return to the pool with their last contents: packets of other lengths, ACKs with ranges.
TEST(Delivery, WhatTheUserSendsIsZerosWhateverTheBufferHeld) {
  auto pool = Pool::create("zeroed", {.mbufs = 255, .cache = 0, .own_memory = true});
  ASSERT_TRUE(pool) << pool.error();
  FixedLaw::reset(50e6);
  size_t data = 0;
  const auto tap = [&data](size_t from, const std::vector<uint8_t>& frame, Nanos) {
    wire::UdpFrame at;
    EXPECT_EQ(wire::locate_udp(frame, at), wire::FrameError::kNone);
    EXPECT_EQ(wire::verify_checksums(frame, at), wire::FrameError::kNone);
    const size_t header = size_t{frame[at.payload + 3]} * 4;
    const auto user = std::span(frame).subspan(at.payload + header);
    EXPECT_TRUE(std::ranges::all_of(user, [](uint8_t b) { return b == 0; }));
    data += from == 0 && !user.empty() ? 1 : 0;
    return true;
  };
  {
    World w(with({finite(300'000), finite(100), finite(300'000, 1_s), finite(2000, 1_s)}),
            {.loss = 0.1, .tap = tap}, find_fixed, pool->get(), true);
    w.run(600_s);
    EXPECT_EQ(w.outcomes().size(), 4U);
    w.expect_clean();
  }
  EXPECT_GT(data, 420U);
  EXPECT_EQ(pool->in_use(), 0U);
}

TEST(Delivery, ReorderingAndCopies) {
  FixedLaw::reset(50e6);
  World w(with({finite(500'000)}), {.delay = 5_ms, .duplication = 0.1, .jitter = 20_ms, .seed = 7});
  w.run(100_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes()[0].completed);
  EXPECT_EQ(w.outcomes()[0].bytes, 500'000U);
  EXPECT_EQ(w.totals(1).received_packets.read(), w.outcomes()[0].packets);
  EXPECT_GT(w.totals(1).duplicate_packets.read(), 0U);
  EXPECT_GT(w.totals(0).duplicate_acks.read(), 0U);
  w.expect_clean();
}

TEST(Delivery, MildReorderingIsNoLoss) {
  FixedLaw::reset(12e6);
  // Jitter reorders packets and ACKs by up to 2 ms; the loss detection allows 20 ms / 4.
  World w(with({finite(500'000)}), {.jitter = 2_ms, .seed = 3});
  w.run(100_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes()[0].completed);
  EXPECT_EQ(w.outcomes()[0].retransmissions, 0U);
  EXPECT_EQ(w.totals(0).lost_packets.read(), 0U);
  w.expect_clean();
}

TEST(Delivery, LostAcksCostNoRetransmission) {
  FixedLaw::reset(12e6);
  std::mt19937_64 random(4);
  World w(with({finite(500'000)}), {.tap = [&](size_t end, auto& frame, Nanos) {
            const bool ack = end == 1 && (frame[42] & 15) == 4;
            return !ack || random() % 2 == 0;
          }});
  w.run(100_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes()[0].completed);
  // Only for the very last ACKs does no later ACK repeat their ranges.
  EXPECT_LE(w.outcomes()[0].retransmissions, 8U);
  EXPECT_GT(FixedLaw::silent, 100);
  w.expect_clean();
}

TEST(Delivery, EveryKindOfPacketMayBeLostTwice) {
  // {wire::Kind, index of the host that sends it}: SYN, SYN-ACK, DATA, ACK, FIN, FIN-ACK.
  for (const auto& [kind, end] : {std::pair{1, 0U}, {2, 1U}, {3, 0U}, {4, 1U}, {5, 0U}, {6, 1U}}) {
    FixedLaw::reset(12e6);
    int left = 2;
    World w(with({finite(10'000)}),
            {.tap = [&, kind = kind, end = end](size_t from, auto& f, Nanos) {
              return from != end || (f[42] & 15) != kind || left-- <= 0;
            }});
    w.run(100_s);
    ASSERT_EQ(w.outcomes().size(), 1U) << "kind " << kind;
    EXPECT_TRUE(w.outcomes()[0].completed) << "kind " << kind;
    EXPECT_EQ(w.outcomes()[0].bytes, 10'000U);
    w.expect_clean();
  }
}

TEST(Delivery, NobodyThere) {
  FixedLaw::reset(12e6);
  World w(with({finite(10'000)}), {.loss = 1});
  w.run(5000_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_FALSE(w.outcomes()[0].completed);
  EXPECT_EQ(w.outcomes()[0].bytes, 0U);
  EXPECT_EQ(w.outcomes()[0].ended, FlowEnd::kGivenUp);
  EXPECT_EQ(w.totals(0).given_up_flows.read(), 1U);
  EXPECT_EQ(w.totals(0).timeouts.read(), Source::kMaxTimeouts);
  FixedLaw::unsettled = 0;  // the law hears neither ACK nor loss of the last SYN
  w.expect_clean();
}

TEST(Delivery, ALinkThatComesBackEndsTheWaitForATimeOut) {
  FixedLaw::reset(12e6);
  bool cut = true;
  World w(with({finite(10'000)}), {.tap = [&cut](size_t, auto&, Nanos) { return !cut; }});
  w.run(20_s);  // SYNs at 0, 1, 3, 7 and 15 s; the next one is due at 31 s
  ASSERT_EQ(w.totals(0).timeouts.read(), 4U);
  cut = false;
  w.sender(0).link_restored(w.now());
  w.run(w.now() + 1_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes()[0].completed);
  EXPECT_EQ(w.outcomes()[0].ended, FlowEnd::kClosed);
  EXPECT_LT(w.outcomes()[0].end, 21_s);
  w.expect_clean();
}

// Flows whose SYNs a full queue dropped together do not fill it again together.
TEST(Delivery, FlowsThatStartTogetherTryAgainSpreadOverAQuarterOfTheTimeOut) {
  FixedLaw::reset(12e6);
  constexpr size_t kFlows = 200;
  std::array<size_t, 10> again{};  // by time after the second second, in parts of the quarter
  World w(with(std::vector<config::Flow>(kFlows, finite(10'000))),
          {.tap = [&again](size_t, auto&, Nanos now) {
            if (now < 500_ms) return false;
            if (now < 1500_ms) ++again.at(static_cast<size_t>((now - 1_s) / 25_ms));
            return now > 1500_ms;
          }});
  w.run(20_s);
  EXPECT_EQ(std::accumulate(again.begin(), again.end(), size_t{0}), kFlows);
  for (const size_t part : again) EXPECT_NEAR(static_cast<double>(part), kFlows / 10.0, 15);
  EXPECT_EQ(w.outcomes().size(), kFlows);
  w.expect_clean();
}

TEST(Delivery, TheEndOfAFlowHasItsReason) {
  FixedLaw::reset(12e6);
  World silent(with({finite(10'000)}), {.loss = 1});
  silent.run(20_s);
  silent.sender(0).stop(silent.now());
  ASSERT_EQ(silent.outcomes().size(), 1U);
  EXPECT_EQ(silent.outcomes()[0].ended, FlowEnd::kUnanswered);
  silent.sender(0).abandon(silent.now());

  World cut_short(with({finite(config::kEndless)}), {});
  cut_short.run(1_s);
  cut_short.sender(0).stop(cut_short.now());
  ASSERT_EQ(cut_short.outcomes().size(), 1U);
  EXPECT_EQ(cut_short.outcomes()[0].ended, FlowEnd::kOpen);
  cut_short.run(10_s);
  FixedLaw::unsettled = 0;  // packets of the abandoned flow
}

TEST(Delivery, NothingToSendIsDeliveredToo) {
  FixedLaw::reset(12e6);
  World w(with({finite(0)}), {});
  w.run(10_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes()[0].completed);
  EXPECT_EQ(w.outcomes()[0].end, 40_ms);
  EXPECT_EQ(w.totals(0).sent_packets.read(), 0U);
  w.expect_clean();
}

TEST(Delivery, Ipv6) {
  FixedLaw::reset(12e6);
  config::Flow f = finite(100'000);
  f.ip_version = 6;
  World w(with({f}), {.loss = 0.1});
  w.run(100_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes()[0].completed);
  EXPECT_EQ(w.outcomes()[0].bytes, 100'000U);
  EXPECT_EQ(w.totals(0).bad_packets.read() + w.totals(1).bad_packets.read(), 0U);
  w.expect_clean();
}

TEST(Delivery, EveryPacketOfAFlowHasItsDscp) {
  FixedLaw::reset(12e6);
  std::map<unsigned, int> seen;  // packets by DSCP
  const auto look = [&](size_t end, std::vector<uint8_t>& frame, Nanos) {
    const uint8_t* ip = frame.data() + wire::kEthernetSize;
    const bool ipv6 = ip[0] >> 4 == 6;
    if (end == 0) ++seen[ipv6 ? (ip[0] & 15) << 2 | ip[1] >> 6 : ip[1] >> 2];
    return true;
  };
  for (const uint8_t version : {4, 6}) {
    seen.clear();
    std::vector<config::Flow> flows(3, finite(14'160));  // ten packets
    for (size_t i = 0; i < 3; ++i) {
      flows[i].ip_version = version;
      flows[i].dscp = static_cast<uint8_t>(std::array{0, 46, 63}[i]);
    }
    World w(with(flows), {.tap = look});
    w.run(10_s);
    ASSERT_EQ(w.outcomes().size(), 3U);
    for (const FlowOutcome& o : w.outcomes()) EXPECT_TRUE(o.completed);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[46], seen[0]);
    EXPECT_EQ(seen[63], seen[0]);
    EXPECT_GE(seen[0], 12) << "SYN and FIN too";
    w.expect_clean();
  }
}

TEST(Delivery, AnEndlessFlowStopsInTime) {
  FixedLaw::reset(12e6);
  config::Flow f = finite(config::kEndless);
  f.stop = 1_s;
  World w(with({f}), {});
  w.run(10_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  const FlowOutcome& o = w.outcomes()[0];
  EXPECT_TRUE(o.completed);
  // One packet per millisecond after the handshake, and those of one more RTT.
  EXPECT_NEAR(o.packets, 980 + 20, 2);
  EXPECT_NEAR(to_seconds(o.end), 1.040, 0.003);
  w.expect_clean();
}

TEST(Delivery, AFiniteFlowThatIsStoppedIsNotComplete) {
  FixedLaw::reset(12e6);
  config::Flow f = finite(100'000'000);
  f.stop = 500_ms;
  World w(with({f}), {});
  w.run(10_s);
  ASSERT_EQ(w.outcomes().size(), 1U);
  EXPECT_FALSE(w.outcomes()[0].completed);
  EXPECT_NEAR(w.outcomes()[0].packets, 500, 2);
  w.expect_clean();
}

TEST(Delivery, TheRunsEndTellsAndClosesWhatIsOpen) {
  FixedLaw::reset(12e6);
  World w(with({finite(config::kEndless), finite(1'000'000'000)}), {});
  w.run(1_s);
  EXPECT_TRUE(w.outcomes().empty());
  w.sender(0).stop(w.now());
  ASSERT_EQ(w.outcomes().size(), 2U);
  EXPECT_GT(w.outcomes()[0].bytes, 1'000'000U);
  EXPECT_FALSE(w.sender(0).idle(w.now()));
  w.run(2_s);
  EXPECT_TRUE(w.sender(0).idle(w.now()));
  EXPECT_EQ(w.outcomes().size(), 2U) << "outcomes are reported once";
  w.expect_clean();
}

TEST(Delivery, ThousandsOfShortFlows) {
  FixedLaw::reset(20e6);
  config::Topology t = two_hosts();
  config::Workload load;
  load.name = "load";
  load.from = {0};
  load.to = {1};
  load.arrivals = config::PoissonArrivals{2000};
  load.size = config::ParetoSize{Bytes(5000), 1.3};
  constexpr int kSeconds = kInstrumented ? 1 : 5;
  load.stop = 1_s * kSeconds;
  t.workloads.push_back(load);
  World w(std::move(t), {.delay = 1_ms, .loss = 0.01});
  w.run(300_s);
  EXPECT_NEAR(static_cast<double>(w.outcomes().size()), kSeconds * 2000, kSeconds * 100);
  uint64_t packets = 0;
  for (const FlowOutcome& o : w.outcomes()) {
    EXPECT_TRUE(o.completed);
    packets += o.packets;
  }
  EXPECT_EQ(w.totals(1).received_packets.read(), packets);
  EXPECT_EQ(w.totals(0).delayed_flows.read(), 0U);
  w.expect_clean();
}

TEST(Delivery, AFullTableMakesFlowsWait) {
  FixedLaw::reset(20e6);
  config::Topology t = two_hosts();
  // The flow table holds the arrivals of 4 s, and each flow takes far longer.
  t.workloads = {periodic_flows(20, Bytes(kInstrumented ? 10'000 : 100'000))};
  t.workloads[0].stop = 20_s;
  World w(std::move(t), {.delay = 1_s});
  w.run(600_s);
  EXPECT_EQ(w.outcomes().size(), 400U);
  EXPECT_EQ(w.totals(0).delayed_flows.read() > 0, true);
  for (const FlowOutcome& o : w.outcomes()) EXPECT_TRUE(o.completed);
  w.expect_clean();
}

/// All frames of a run with their times and senders, as one string of bytes.
std::string transcript(uint64_t seed) {
  FixedLaw::reset(20e6);
  std::string all;
  config::Topology t = two_hosts();
  t.run.seed = seed;
  config::Workload load;
  load.name = "load";
  load.from = {0};
  load.to = {1};
  load.arrivals = config::PoissonArrivals{100};
  load.size = config::ExponentialSize{Bytes(20'000)};
  load.stop = 2_s;
  t.workloads.push_back(load);
  World w(std::move(t), {.loss = 0.05, .jitter = 6_ms, .tap = [&](size_t end, auto& f, Nanos now) {
                           all += std::to_string(end) + std::to_string(now.count());
                           all.append(f.begin(), f.end());
                           return true;
                         }});
  w.run(100_s);
  return all;
}

TEST(Delivery, TheSameSeedGivesTheSameBytes) {
  const std::string one = transcript(1);
  EXPECT_GT(one.size(), 1'000'000U);
  EXPECT_TRUE(one == transcript(1));
  EXPECT_FALSE(one == transcript(2));
}

// A flow that sends on without ACKs, as a cheater would, fills the lcore's records.
TEST(Delivery, AFlowWhosePacketsVanishLeavesRecordsToOthers) {
  FixedLaw::reset(40e6);
  std::map<uint32_t, uint64_t> packets;  // by flow
  World w(with({finite(config::kEndless), finite(config::kEndless)}),
          {.tap = [&](size_t from, auto& frame, Nanos now) {
            if (from != 0 || (frame[42] & 15) != 3) return true;
            const uint32_t flow = wire::load_be32(&frame[46]);
            ++packets[flow];
            return now < 1_s || flow == packets.rbegin()->first;
          }});
  w.run(1_s);
  ASSERT_EQ(packets.size(), 2U);
  const uint64_t before = packets.rbegin()->second;
  constexpr int kSeconds = kInstrumented ? 2 : 4;
  w.run(1_s + 1_s * kSeconds);
  EXPECT_NEAR(static_cast<double>(packets.rbegin()->second - before), kSeconds * 40e6 / 8 / 1500,
              20);
  EXPECT_GT(w.totals(0).out_of_records.read(), 0U);
}

}  // namespace
}  // namespace turnpike::sender::testing
