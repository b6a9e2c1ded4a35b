// SPDX-License-Identifier: BSD-3-Clause
// Tests a sink's replies, its flow state, and how long it keeps that.
#include "sender/receiver/receiver.h"

#include <array>
#include <map>
#include <random>
#include <tuple>

#include "tests/support/eal.h"

namespace turnpike::sender {
namespace {

using wire::Kind;

class ReceiverTest : public ::testing::Test {
 protected:
  void make(uint32_t flows, size_t runs) {
    receiver = std::make_unique<Receiver>(flows, runs, totals);
  }
  std::optional<Reply> send(uint32_t flow, Kind kind, uint32_t sequence, Nanos now = 1_s) {
    wire::Header h{.kind = kind,
                   .flow = flow,
                   .sequence = sequence,
                   .acknowledgement = 9,
                   .token = tokens[flow]};
    const auto reply = receive({.flow = flow, .port = 50000, .ip_version = 4}, h, now);
    if (kind == Kind::kSyn) tokens[flow] = reply->token;
    return reply;
  }
  std::optional<Reply> receive(const FlowKey& key, const wire::Header& h, Nanos now) {
    return receiver->receive(key, {.header = h, .protocol = *find_protocol("fcp"), .size = 1500},
                             now);
  }
  void shake_hands(uint32_t flow, Nanos now = 1_s) { ASSERT_TRUE(send(flow, Kind::kSyn, 0, now)); }
  /// Opens a flow; it expects the second packet next.
  void open(uint32_t flow, Nanos now = 1_s) {
    shake_hands(flow, now);
    ASSERT_TRUE(send(flow, Kind::kData, 0, now));
  }

  HostTotals totals;
  std::unique_ptr<Receiver> receiver;
  std::map<uint32_t, uint32_t> tokens;  // by flow
};

TEST_F(ReceiverTest, AcknowledgesInOrder) {
  make(8, 64);
  EXPECT_EQ(send(1, Kind::kSyn, 0)->kind, Kind::kSynAck);
  for (uint32_t s = 0; s < 10; ++s) {
    const auto reply = send(1, Kind::kData, s);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->kind, Kind::kAck);
    EXPECT_EQ(reply->acknowledgement, s + 1);
    EXPECT_EQ(reply->ranges, 0);
  }
  EXPECT_EQ(send(1, Kind::kFin, 10)->kind, Kind::kFinAck);
  EXPECT_EQ(send(1, Kind::kFin, 10)->acknowledgement, 10U);
  EXPECT_EQ(totals.received_packets.read(), 10U);
  EXPECT_EQ(totals.received_bytes.read(), 15000U);
}

TEST_F(ReceiverTest, RangesAreTheNearestBelow) {
  make(8, 64);
  shake_hands(1);
  std::optional<Reply> reply;
  for (uint32_t s = 1; s < 41; s += 2) reply = send(1, Kind::kData, s);  // all odd ones
  ASSERT_EQ(reply->ranges, wire::kMaxRanges);
  for (uint32_t i = 0; i < wire::kMaxRanges; ++i) {
    EXPECT_EQ(reply->range[i].begin, 39 - 2 * i);
    EXPECT_EQ(reply->range[i].end, 40 - 2 * i);
  }
  reply = send(1, Kind::kData, 4);  // joins 3 and 5
  EXPECT_EQ(reply->range[0].begin, 3U);
  EXPECT_EQ(reply->range[0].end, 6U);
  EXPECT_EQ(reply->range[1].begin, 1U);
  EXPECT_EQ(reply->ranges, 2);
  EXPECT_EQ(reply->acknowledgement, 0U);
}

TEST_F(ReceiverTest, WhatCannotBeRememberedIsNotAcknowledged) {
  make(8, 2);
  shake_hands(1);
  EXPECT_TRUE(send(1, Kind::kData, 2));
  EXPECT_TRUE(send(1, Kind::kData, 4));
  EXPECT_FALSE(send(1, Kind::kData, 6));
  EXPECT_TRUE(send(1, Kind::kData, 5));
  EXPECT_TRUE(send(1, Kind::kData, 0));
  EXPECT_FALSE(send(1, Kind::kData, UINT32_MAX)) << "before the beginning";
  EXPECT_EQ(totals.refused_packets.read(), 2U);
}

TEST_F(ReceiverTest, SequencesWrap) {
  make(8, 64);
  shake_hands(1);
  // Steps below 2^31, so that serial numbers stay unambiguous, to beyond 2^32.
  uint64_t s = 0;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(send(1, Kind::kData, static_cast<uint32_t>(s + 1))) << i;
    s += 1;
  }
  EXPECT_EQ(send(1, Kind::kData, 0)->acknowledgement, 9U);
}

TEST_F(ReceiverTest, FlowsAreTheirAddressPortAndId) {
  make(8, 64);
  open(1);
  wire::Header h{.kind = Kind::kData, .flow = 1};
  FlowKey other{.flow = 1, .port = 50001, .ip_version = 4};
  EXPECT_EQ(receive(other, h, 1_s)->kind, Kind::kReset);
  other = {.source = {10}, .flow = 1, .port = 50000, .ip_version = 4};
  EXPECT_EQ(receive(other, h, 1_s)->kind, Kind::kReset);
  EXPECT_EQ(totals.unknown_flows.read(), 2U);
}

TEST_F(ReceiverTest, IdleFlowsMakeRoomForNewOnes) {
  make(8, 64);
  for (uint32_t f = 0; f < 8; ++f) open(f, 1_s);
  shake_hands(99, 2_s);
  EXPECT_FALSE(send(99, Kind::kData, 0, 2_s)) << "none of the eight may be forgotten yet";
  EXPECT_EQ(totals.refused_packets.read(), 1U);
  EXPECT_TRUE(send(3, Kind::kData, 2, 59_s));  // flow 3 stays, with a range of its own
  shake_hands(99, 62_s);
  EXPECT_TRUE(send(99, Kind::kData, 0, 62_s));
  EXPECT_LT(receiver->flows(), 8U);
  EXPECT_EQ(send(3, Kind::kData, 1, 62_s)->acknowledgement, 3U);
}

/// As when a gateway with many tunnels has been killed and started again: their flows are new ones.
TEST_F(ReceiverTest, ATunnelThatPausesMakesRoomForANewOne) {
  make(8, 0);
  for (uint32_t f = 0; f < 8; ++f) open(f, 1_s);
  shake_hands(99, 2_s);
  EXPECT_FALSE(send(99, Kind::kData, 0, 2_s));
  EXPECT_TRUE(send(3, Kind::kData, 2, 3_s));
  for (uint32_t f = 100; f < 107; ++f) {
    shake_hands(f, 3_s + 1_ms);
    EXPECT_TRUE(send(f, Kind::kData, 0, 3_s + 1_ms)) << f;
  }
  EXPECT_EQ(send(3, Kind::kData, 3, 3_s + 2_ms)->kind, Kind::kAck) << "it did not pause";
}

TEST_F(ReceiverTest, EndedFlowsLingerUnlessRoomIsNeeded) {
  make(8, 64);
  for (uint32_t f = 0; f < 8; ++f) {
    open(f, 1_s);
    EXPECT_TRUE(send(f, Kind::kFin, 1, 1_s));
  }
  EXPECT_EQ(send(5, Kind::kFin, 1, 1_s + 1_ms)->kind, Kind::kFinAck);
  EXPECT_EQ(receiver->flows(), 8U);
  open(100, 1_s + 2_ms);
  EXPECT_GE(receiver->flows(), 1U);
  // A repeated FIN gets a FIN-ACK whether or not the receiver still has the flow's state.
  for (uint32_t f = 0; f < 8; ++f) {
    EXPECT_EQ(send(f, Kind::kFin, 1, 2_s)->kind, Kind::kFinAck);
  }
}

TEST_F(ReceiverTest, HalfOpenFlowsTakeNoRoom) {
  make(8, 64);
  for (uint32_t f = 0; f < 100'000; ++f) shake_hands(f);
  EXPECT_EQ(receiver->flows(), 0U);
  EXPECT_EQ(send(4711, Kind::kData, 0)->kind, Kind::kAck);
  EXPECT_EQ(receiver->flows(), 1U);
}

TEST_F(ReceiverTest, ATokenOpensAFlowForAWhileAndThenNoMore) {
  make(8, 64);
  for (const auto& [flow, later, kind] :
       {std::tuple{1U, 30_s, Kind::kAck}, {2U, 34_s, Kind::kAck}, {3U, 70_s, Kind::kReset}}) {
    shake_hands(flow);
    EXPECT_EQ(send(flow, Kind::kData, 0, 1_s + later)->kind, kind) << flow;
  }
  for (const uint32_t flow : {1U, 2U})  // open flows continue after the tokens' lifetime
    EXPECT_EQ(send(flow, Kind::kData, 1, 90_s)->acknowledgement, 2U);
}

// An off-path attacker that knows all fields of a flow except its token.
TEST_F(ReceiverTest, AStrangerCannotAddToAFlowOrEndIt) {
  make(8, 64);
  open(1);
  const uint32_t token = tokens[1];
  std::mt19937 random(3);
  for (int i = 0; i < 100'000; ++i) {
    tokens[1] = random();
    if (tokens[1] == token) continue;
    ASSERT_FALSE(send(1, i % 2 == 0 ? Kind::kFin : Kind::kData, 1)) << "not even answered";
  }
  EXPECT_EQ(totals.forged_packets.read(), 100'000U);
  EXPECT_EQ(totals.received_packets.read(), 1U);
  tokens[1] = token;
  EXPECT_EQ(send(1, Kind::kData, 1)->acknowledgement, 2U);
}

TEST_F(ReceiverTest, TokensAreTheReceiversSecret) {
  HostTotals other;
  const auto receiver_of = [&](SecretKey key) {
    return std::make_unique<Receiver>(8, 64, other, true, key);
  };
  const wire::Header syn{.kind = Kind::kSyn, .flow = 1};
  const Protocol &fcp = *find_protocol("fcp"), &rcp = *find_protocol("rcp");
  const auto token = [&](SecretKey key, const FlowKey& flow, const Protocol& p, Nanos now) {
    return receiver_of(key)->receive(flow, {.header = syn, .protocol = p}, now)->token;
  };
  const FlowKey flow{.flow = 1, .port = 50000, .ip_version = 4}, port{.flow = 1, .port = 50001};
  const uint32_t usual = token({1, 2}, flow, fcp, 1_s);
  EXPECT_EQ(token({1, 2}, flow, fcp, 2_s), usual);
  EXPECT_NE(token({1, 3}, flow, fcp, 1_s), usual);
  EXPECT_NE(token({1, 2}, port, fcp, 1_s), usual);
  EXPECT_NE(token({1, 2}, flow, rcp, 1_s), usual);
  EXPECT_NE(token({1, 2}, flow, fcp, 99_s), usual);
}

TEST_F(ReceiverTest, ARestartedSenderBeginsAnew) {
  make(8, 64);
  open(1);
  EXPECT_TRUE(send(1, Kind::kSyn, 0)) << "a late copy";
  EXPECT_EQ(send(1, Kind::kData, 1)->acknowledgement, 2U);
  EXPECT_TRUE(send(1, Kind::kSyn, 0, 40_s)) << "a new flow of the same id";
  EXPECT_EQ(send(1, Kind::kData, 0, 40_s)->acknowledgement, 1U);
}

// 16 flows and 128 entries of guesses_: in most rounds, two flows share an entry.
TEST_F(ReceiverTest, FlowsThatAreGuessedAlikeStayApart) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    make(16, 64);
    std::array<uint32_t, 16> flows;
    for (uint32_t& f : flows) {
      f = static_cast<uint32_t>(random());
      shake_hands(f);
    }
    for (uint32_t s = 0; s < 20; ++s)
      for (size_t i = s; i < flows.size(); ++i)
        ASSERT_EQ(send(flows[i], Kind::kData, s)->acknowledgement, s + 1);
  }
}

TEST_F(ReceiverTest, ManyFlowsComeAndGo) {
  make(100, 256);
  std::mt19937_64 random(2);
  for (uint32_t i = 0; i < 20000; ++i) {
    const Nanos now = 1_s + 10_ms * static_cast<int64_t>(i);
    ASSERT_TRUE(send(i, Kind::kSyn, 0, now));
    ASSERT_TRUE(send(i, Kind::kData, 0, now));
    // A few flows never end: about a dozen of them occupy entries until kIdle has passed.
    if (random() % 500 != 0) {
      ASSERT_TRUE(send(i, Kind::kFin, 1, now));
    }
  }
  EXPECT_LE(receiver->flows(), 100U);
}

// --- payload that must be authentic -------------------------------------------------------------

/// A receiver of datagrams, in which a packet is authentic if the test says so.
class CheckedReceiverTest : public ReceiverTest {
 protected:
  static constexpr FlowKey kFlow{.flow = 1, .port = 50000, .ip_version = 4};
  struct Check final : PayloadCheck {
    bool answer = true;
    unsigned asked = 0;
    uint64_t sequence = 0;
    bool authentic(uint64_t s) override {
      sequence = s;
      ++asked;
      return answer;
    }
  };
  CheckedReceiverTest() { receiver = std::make_unique<Receiver>(8, 0, totals); }

  std::optional<Reply> put(Kind kind, uint32_t sequence, bool authentic, Nanos now = 1_s,
                           bool empty = false) {
    const wire::Header h{.kind = kind, .flow = 1, .sequence = sequence, .token = token};
    check.answer = authentic;
    const auto reply = receiver->receive(kFlow,
                                         {.header = h,
                                          .protocol = *find_protocol("fcp"),
                                          .size = 1000,
                                          .empty = empty,
                                          .check = &check},
                                         now);
    if (kind == Kind::kSyn) token = reply->token;
    return reply;
  }
  /// DATA; whether it counts.
  bool data(uint32_t sequence, bool authentic = true, Nanos now = 1_s) {
    const auto reply = put(Kind::kData, sequence, authentic, now);
    return reply && reply->fresh;
  }

  Check check;
  uint32_t token = 0;
};

TEST_F(CheckedReceiverTest, CountsAndAnswersAuthenticPacketsAlone) {
  put(Kind::kSyn, 0, false);
  EXPECT_FALSE(put(Kind::kData, 0, false)) << "it must not open the flow";
  EXPECT_EQ(receiver->flows(), 0U);
  EXPECT_TRUE(data(0));
  // Would it advance the window, the next packets would be too old.
  EXPECT_FALSE(put(Kind::kData, 5000, false));
  EXPECT_TRUE(data(1));
  EXPECT_FALSE(put(Kind::kData, 2, false));
  EXPECT_TRUE(data(2)) << "a forgery does not take a true packet's place";
  EXPECT_FALSE(put(Kind::kData, 2, true)) << "no reply to a copy";
  EXPECT_EQ(totals.received_packets.read(), 3U);
  EXPECT_EQ(check.asked, 7U) << "once each";
}

TEST_F(CheckedReceiverTest, AsksOnlyWhereTheTokenIsRight) {
  put(Kind::kSyn, 0, false);
  EXPECT_TRUE(data(0));
  const unsigned before = check.asked;
  ++token;
  EXPECT_FALSE(data(1));
  EXPECT_EQ(check.asked, before);
  EXPECT_EQ(totals.forged_packets.read(), 1U);
}

TEST_F(CheckedReceiverTest, AProbeOpensNoFlow) {
  put(Kind::kSyn, 0, false);
  EXPECT_FALSE(put(Kind::kData, 0, true, 1_s, /*empty=*/true));
  EXPECT_EQ(receiver->flows(), 0U);
}

TEST_F(CheckedReceiverTest, GivesTheWholeSequenceNumber) {
  put(Kind::kSyn, 0, false);
  uint64_t last = 0;
  for (uint64_t s = 0; s < uint64_t{3} << 32; s += uint64_t{1} << 30) {
    EXPECT_TRUE(data(static_cast<uint32_t>(s)));
    EXPECT_EQ(check.sequence, s);
    last = s;
  }
  EXPECT_GT(last, uint64_t{2} << 32);
}

/// An attacker ends a flow by a FIN with its token, waits until it is forgotten, and sends copies.
TEST_F(CheckedReceiverTest, ACopyOpensNoFlowAgain) {
  put(Kind::kSyn, 0, false);
  const uint32_t old = token;
  EXPECT_TRUE(data(0));
  EXPECT_TRUE(data(1));
  put(Kind::kFin, 2, false);
  for (Nanos now = 2_s; now < 90_s; now += 1_s) {
    // Others open and end flows, which makes the receiver look for old ones.
    for (uint32_t flow = 10; flow < 14; ++flow) {
      send(flow, Kind::kSyn, 0, now);
      send(flow, Kind::kData, 0, now);
      send(flow, Kind::kFin, 1, now);
    }
    token = old;
    EXPECT_FALSE(data(0, true, now)) << now.count();
    EXPECT_FALSE(data(1, true, now)) << now.count();
  }
}

}  // namespace
}  // namespace turnpike::sender
