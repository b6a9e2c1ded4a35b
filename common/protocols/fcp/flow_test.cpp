// SPDX-License-Identifier: BSD-3-Clause
// Tests the sender's law alone: its promises, their settlement, and invalid feedback.
#include "common/protocols/fcp/flow.h"

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/fcp_sender.h"

namespace turnpike::fcp {
namespace {

using namespace testing;

TEST(FcpFlow, SynPaysForTenPackets) {
  FlowUnderTest<Flow> law{ParamValues(kFlowParams)};
  Bytes20 header;
  PacketNote note;
  FlowState s{.packet_size = kPacket};
  law.write_syn(s, kSyn, header.data(), note);
  EXPECT_FLOAT_EQ(load(header.data()).preload, 250);  // 10 x 1000 / 40
  EXPECT_EQ(load(header.data()).rtt_ns, 0U);
  s.unsent = 2000;  // a short flow promises only its remaining bytes
  law.write_syn(s, kSyn, header.data(), note);
  EXPECT_FLOAT_EQ(load(header.data()).preload, 50);
}

TEST(FcpFlow, FirstRoundIsTenPacketsPerRoundTrip) {
  Sender s;
  s.law.set_target(Budget(1));
  s.open(8e-8);
  EXPECT_NEAR(s.law.rate_bps(), 10.0 * kPacket * 8 / 0.020, 1);
  EXPECT_NEAR(s.law.allowance.granted, 8e-8 * 10 * kPacket / 0.020, 1e-9);
}

// Packets of one RTT promise exactly the gap, and their ACKs turn it into budget: w -> x.
TEST(FcpFlow, OneRoundTripOfPacketsPromisesTheWholeGap) {
  for (const double target : {0.5, 0.001}) {
    Sender s;
    s.open(8e-8);
    s.law.set_target(Budget(target));
    const double w = s.law.allowance.granted;
    std::deque<PacketNote> flying;
    for (int i = 0; i < 10; ++i) {
      s.state.now = Nanos(2'000'000 * i);
      flying.push_back(s.send());
      EXPECT_NEAR(s.last.preload, (target - w) / w, 1e-4 * std::fabs((target - w) / w));
    }
    EXPECT_NEAR(s.law.allowance.committed, target, 1e-3 * target);
    s.state.now = 20_ms;
    s.send();
    EXPECT_NEAR(s.last.preload, 0, 0.02) << "the gap was promised already";
    for (const PacketNote& n : flying)
      EXPECT_TRUE(s.law.on_ack(s.state, n, echo_of_price(8e-8).data()));
    EXPECT_NEAR(s.law.allowance.granted, target, 2e-3 * target);
  }
}

TEST(FcpFlow, FromNothingPromisesAllOnOnePacket) {
  Sender s;
  s.open(kMinPrice.count());  // an idle path: the SYN's commitment is about 1e-13
  s.law.set_target(Budget(1));
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    const PacketNote n = s.send();
    sum += s.last.preload;
    EXPECT_TRUE(s.law.on_ack(s.state, n, echo_of_price(kMinPrice.count()).data()));
  }
  EXPECT_GT(sum, 1e12);
  EXPECT_NEAR(s.law.allowance.granted, 1, 2e-3);
}

// After half a window without a packet, links count on half of the budget; the flow promises the
// rest again.
TEST(FcpFlow, APauseIsPromisedAnew) {
  Sender s;
  s.open(8e-8);
  s.law.set_target(Budget(0.5));
  for (int i = 0; i < 10; ++i) s.law.on_ack(s.state, s.send(), echo_of_price(8e-8).data());
  ASSERT_NEAR(s.law.allowance.granted, 0.5, 1e-3);
  s.state.now = 1_s;
  s.law.on_pause(s.state, 20_ms);
  EXPECT_NEAR(s.law.allowance.granted, 0.25, 1e-3);
  EXPECT_NEAR(s.law.rate_bps() / (8 * 0.25 / 8e-8), 1, 1e-3);
  const PacketNote first = s.send();
  EXPECT_NEAR(s.last.preload, 1, 0.01) << "(x - w) / w, from the new w";
  s.law.on_ack(s.state, first, echo_of_price(8e-8).data());
  for (int i = 0; i < 100; ++i) s.law.on_ack(s.state, s.send(), echo_of_price(8e-8).data());
  EXPECT_GT(s.law.allowance.granted, 0.3);
  s.law.on_pause(s.state, 1_s);
  EXPECT_EQ(s.law.allowance.granted, 0) << "all forgotten";
  const PacketNote asks = s.send();
  EXPECT_EQ(s.last.preload, 0) << "the price is unknown";
  s.law.on_ack(s.state, asks, echo_of_price(4e-8).data());
  s.send();
  EXPECT_NEAR(s.law.allowance.committed, 0.5, 1e-3);
}

// Doubles at most per round trip with a limit of 1: section 7.1's flows of a stability class.
TEST(FcpFlow, PreloadsAreLimited) {
  for (const double limit : {0.25, 1.0, 4.0}) {
    Sender s;
    s.law = FlowUnderTest<Flow>(with({{kPreloadLimit, limit}}));
    s.open(8e-8);
    s.law.set_target(Budget(1));
    double granted = s.law.allowance.granted;
    for (int round = 0; round < 3; ++round) {
      std::deque<PacketNote> flying;
      for (int i = 0; i < 10; ++i) {
        s.state.now += 2_ms;
        flying.push_back(s.send());
        EXPECT_LE(s.last.preload, limit * (1 + 1e-6));
      }
      for (const PacketNote& n : flying) s.law.on_ack(s.state, n, echo_of_price(8e-8).data());
      // Ten packets are the first round's rate, a part of it later.
      EXPECT_LE(s.law.allowance.granted, granted * (1 + limit) * 1.01) << limit;
      granted = s.law.allowance.granted;
    }
    EXPECT_GT(granted, 8e-8 * 10 * kPacket / 0.020 * (1 + std::min(limit, 1.0)));
  }
}

// --- deadlines ----------------------------------------------------------------------------------

constexpr double kFixed = 1e-12;     // $/B
constexpr double kAsked = 40e6 / 8;  // B/s

Sender deadline_sender() {
  Sender s;
  s.law = FlowUnderTest<Flow>(with({{kDeadlineRate, 8 * kAsked}, {kFixedPrice, kFixed}}));
  return s;
}

TEST(FcpFlow, ADeadlineFlowAsksForItsRateWithOnePacket) {
  Sender s = deadline_sender();
  Bytes20 header;
  PacketNote note;
  s.law.write_syn(s.state, kSyn, header.data(), note);
  EXPECT_EQ(load(header.data()).preload, 0) << "a SYN has no round trip";
  s.open(kFixed);
  s.law.set_target(Budget(1));
  const PacketNote first = s.send();
  EXPECT_NEAR(s.last.preload * kPacket / 0.020, kAsked, kAsked * 1e-3);
  EXPECT_FLOAT_EQ(s.last.reserve, static_cast<float>(kFixed)) << "no other price is accepted";
  s.law.on_ack(s.state, first, echo_of_price(kFixed).data());
  EXPECT_NEAR(s.law.allowance.rate, kAsked, kAsked * 1e-2);
  for (int i = 0; i < 20; ++i) {
    s.state.now += 1_ms;
    const PacketNote n = s.send();
    EXPECT_NEAR(s.last.preload, 0, 1e-3) << "asked once";
    s.law.on_ack(s.state, n, echo_of_price(kFixed).data());
  }
}

TEST(FcpFlow, ARefusedDeadlineFlowCompetesByItsBudget) {
  Sender s = deadline_sender();
  s.open(kFixed);
  s.law.set_target(Budget(1));
  s.law.on_ack(s.state, s.send(), echo_of_price(8e-8).data());
  const PacketNote next = s.send();
  EXPECT_EQ(s.last.reserve, 0) << "any price is accepted";
  s.state.now += s.state.rtt;
  s.law.on_ack(s.state, next, echo_of_price(8e-8).data());
  for (int i = 0; i < 50; ++i) {
    s.state.now += 1_ms;
    s.law.on_ack(s.state, s.send(), echo_of_price(8e-8).data());
  }
  EXPECT_NEAR(s.law.allowance.granted, 1, 0.05);
}

TEST(FcpFlow, PricesOfTheClassThatRefusedAFlowAreNotItsOwn) {
  Sender s = deadline_sender();
  s.open(kFixed);
  s.law.set_target(Budget(1));
  const PacketNote refused = s.send();
  const PacketNote priced_by_class = s.send();
  s.law.on_ack(s.state, refused, echo_of_price(8e-8).data());
  s.state.now += 1_ms;
  s.law.on_ack(s.state, priced_by_class, echo_of_price(kFixed).data());
  EXPECT_FLOAT_EQ(static_cast<float>(s.law.allowance.price), 8e-8F);
}

TEST(FcpFlow, NeverPromisesMoreThanTheHostHasLeft) {
  Sender s;
  s.law.set_target(Budget(1));
  s.open(8e-8);
  for (int i = 0; i < 50; ++i) {
    s.state.headroom = 0.3 - s.law.allowance.committed;
    s.send();
    EXPECT_LE(s.law.allowance.committed, 0.3 + 1e-9);
  }
}

TEST(FcpFlow, LastRoundTripTakesTheBudgetBack) {
  Sender s;
  s.law.set_target(Budget(0.04));
  s.open(8e-8);
  s.state.unsent = 10 * kPacket;  // exactly r x RTT
  std::deque<PacketNote> flying;
  for (int i = 0; i < 10; ++i) {
    flying.push_back(s.send());
    EXPECT_EQ(s.last.preload, -1);
    s.state.unsent -= kPacket;
  }
  for (const PacketNote& n : flying) s.law.on_ack(s.state, n, echo_of_price(8e-8).data());
  EXPECT_NEAR(s.law.allowance.committed, 0, 1e-6);
}

TEST(FcpFlow, GivesBackNoMoreThanItHas) {
  Sender s;
  s.law.set_target(Budget(0.04));
  s.open(8e-8);
  s.state.unsent = kPacket;
  std::deque<PacketNote> flying;
  for (int i = 0; i < 20; ++i) {  // the packets of two RTTs
    flying.push_back(s.send());
    EXPECT_EQ(s.last.preload, -1);
    EXPECT_GE(s.law.allowance.committed, 0);
  }
  for (const PacketNote& n : flying) {
    const double before = s.law.allowance.committed;
    s.law.on_ack(s.state, n, echo_of_price(8e-8).data());
    EXPECT_LE(s.law.allowance.committed, before + 1e-12) << "an ACK promises nothing";
  }
}

TEST(FcpFlow, TakesBackTheShareItIsTold) {
  Sender s{.law = FlowUnderTest<Flow>(with({{kCancelShare, 0.7}}))};
  s.law.set_target(Budget(0.04));
  s.open(8e-8);
  s.state.unsent = 10 * kPacket;
  s.send();
  EXPECT_FLOAT_EQ(s.last.preload, -0.7F);
}

TEST(FcpFlow, TakesAllBackAtOnceWhereAsked) {
  const auto whole = static_cast<double>(Cancellation::kWhole);
  for (const double share : {1.0, 0.7}) {
    Sender s{.law = FlowUnderTest<Flow>(with({{kCancellation, whole}, {kCancelShare, share}}))};
    s.law.set_target(Budget(0.04));
    s.open(8e-8);
    s.state.unsent = 10 * kPacket;
    const double w = s.law.allowance.granted;
    std::deque<PacketNote> flying;
    for (int i = 0; i < 10; ++i) {
      flying.push_back(s.send());
      EXPECT_NEAR(s.last.preload, i == 0 ? -10 * share : 0, 1e-4);
      s.state.unsent -= kPacket;
      s.state.now += 2_ms;
    }
    EXPECT_NEAR(s.law.allowance.committed, (1 - share) * w, 1e-6 * w);
    for (const PacketNote& n : flying) s.law.on_ack(s.state, n, echo_of_price(8e-8).data());
    EXPECT_NEAR(s.law.allowance.granted, (1 - share) * w, 1e-6 * w);
  }
}

TEST(FcpFlow, ALostCancellationIsSaidAgain) {
  Sender s{.law = FlowUnderTest<Flow>(
               with({{kCancellation, static_cast<double>(Cancellation::kWhole)}}))};
  s.law.set_target(Budget(0.04));
  s.open(8e-8);
  s.state.unsent = 10 * kPacket;
  const PacketNote lost = s.send();
  s.send();
  EXPECT_EQ(s.last.preload, 0);
  s.law.on_loss(s.state, lost);
  s.send();
  EXPECT_NEAR(s.last.preload, -10, 1e-4);
}

TEST(FcpFlow, WantsNoMoreThanItsApplicationUses) {
  Sender s;
  s.law.set_target(Budget(1));
  s.open(8e-8);
  s.state.limit = 1e6;  // B/s, which cost 0.08 $/s
  for (int i = 0; i < 20; ++i) s.law.on_ack(s.state, s.send(), echo_of_price(8e-8).data());
  EXPECT_NEAR(s.law.allowance.granted, 0.08, 2e-4);
  s.law.on_ack(s.state, s.send(), echo_of_price(16e-8).data());
  for (int i = 0; i < 20; ++i) s.law.on_ack(s.state, s.send(), echo_of_price(16e-8).data());
  EXPECT_NEAR(s.law.allowance.granted, 0.16, 4e-4) << "it costs twice as much now";
}

TEST(FcpFlow, ShortFlowAsksForNoMoreThanItCanSend) {
  Sender s;
  s.law.set_target(Budget(1));
  s.open(8e-8);
  s.state.unsent = 50e3;  // 50 kB per RTT of 20 ms cost 0.2 $/s
  for (int i = 0; i < 10; ++i) s.send();
  EXPECT_LE(s.law.allowance.committed, 8e-8 * 50e3 / 0.020 * 1.001);
}

TEST(FcpFlow, BudgetWithoutNewsOfItsPriceDoesNotRaiseTheRate) {
  Sender s;
  s.law.set_target(Budget(1));
  s.open(kMinPrice.count());  // at MIN the budget would buy any rate
  const double rate = s.law.rate_bps();
  const PacketNote n = s.send();
  s.law.on_ack_without_feedback(s.state, n);
  EXPECT_GT(s.law.allowance.granted, 0.05);
  EXPECT_NEAR(s.law.rate_bps(), rate, 1e-6 * rate);
}

TEST(FcpFlow, LossTakesThePromiseBackUnpaid) {
  Sender s;
  s.open(8e-8);
  s.law.set_target(Budget(0.5));
  const double before = s.law.allowance.committed;
  const PacketNote n = s.send();
  EXPECT_GT(s.law.allowance.committed, before);
  s.law.on_loss(s.state, n);
  EXPECT_DOUBLE_EQ(s.law.allowance.committed, before);
}

TEST(FcpFlow, UnbelievableFeedbackChangesNoPrice) {
  Sender s;
  s.law.set_target(Budget(1));
  s.open(8e-8);
  for (const double bad : {std::nan(""), -1.0, 1e30, std::numeric_limits<double>::infinity()}) {
    const PacketNote n = s.send();
    EXPECT_FALSE(s.law.on_ack(s.state, n, echo_of_price(bad).data()));
    EXPECT_DOUBLE_EQ(s.law.allowance.price, static_cast<float>(8e-8));
    EXPECT_TRUE(std::isfinite(s.law.allowance.committed));
  }
}

TEST(FcpFlow, KeepsOnePacketPerRoundTrip) {
  Sender s;
  s.open(8e-8);
  const PacketNote n = s.send();
  s.law.on_ack(s.state, n, echo_of_price(1e3).data());
  EXPECT_NEAR(s.law.rate_bps(), kPacket * 8 / 0.020, 1);
}

// For any losses and pauses, and ACKs in any order: no budget is pending once no packet is in
// flight, and only the loss of a packet that returned budget raises what the flow has committed.
TEST(FcpFlow, BooksBalanceUnderAnyFate) {
  std::mt19937_64 draw(7);
  for (int round = 0; round < 200; ++round) {
    Sender s;
    s.open(std::pow(10.0, -6.0 - static_cast<double>(draw() % 12)));
    std::deque<std::pair<PacketNote, bool>> flying;  // whether it returns budget
    for (int i = 0; i < 400; ++i) {
      s.state.now += Nanos(static_cast<int64_t>(draw() % 3'000'000));
      s.state.headroom = 1 - s.law.allowance.committed;
      if (draw() % 20 == 0) s.law.set_target(Budget(1e-3 * static_cast<double>(draw() % 1000)));
      if (draw() % 2 == 0 || flying.empty()) {
        const double before = s.law.allowance.committed;
        const PacketNote note = s.send();
        flying.emplace_back(note, s.last.preload < 0);
        // A lost negative preload leaves more committed than the host has; no packet may add to it.
        ASSERT_LE(s.law.allowance.committed, std::max(1.0, before) + 1e-9);
      } else {
        const size_t pick = draw() % flying.size();
        const auto [n, returns] = flying[pick];
        flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(pick));
        const double before = s.law.allowance.committed;
        bool lost = false;
        const double price = std::pow(10.0, -6.0 - static_cast<double>(draw() % 12));
        switch (draw() % 3) {
          case 0:
            s.law.on_ack(s.state, n, echo_of_price(price).data());
            break;
          case 1:
            s.law.on_ack_without_feedback(s.state, n);
            break;
          default:
            s.law.on_loss(s.state, n);
            lost = true;
        }
        ASSERT_TRUE(s.law.allowance.committed <= before + 1e-9 || (lost && returns));
      }
      if (draw() % 20 == 0) {
        const double before = s.law.allowance.committed;
        s.law.on_pause(s.state, Nanos(static_cast<int64_t>(draw() % 60'000'000)));
        ASSERT_LE(s.law.allowance.committed, before + 1e-9);
      }
      ASSERT_GE(s.law.allowance.granted, 0);
    }
    for (const auto& [n, returns] : flying) s.law.on_loss(s.state, n);
    ASSERT_EQ(s.law.law.pending().count(), 0);
  }
}

}  // namespace
}  // namespace turnpike::fcp
