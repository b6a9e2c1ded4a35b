// SPDX-License-Identifier: BSD-3-Clause
// Tests the sender's law with reserve prices, packet by packet.
#include "common/protocols/fcp/reserve_flow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/fcp/protocol.h"
#include "tests/support/flow_under_test.h"

namespace turnpike::fcp::reserve_flow_test {
namespace {

constexpr uint32_t kPacket = 1000, kSyn = 84;
using Bytes32 = std::array<uint8_t, kHeaderSize>;

/// A flow with an RTT of 20 ms and a budget of 1 $/s.
struct Sender {
  FlowUnderTest<ReserveFlow> law{preset_values(kProtocol, false, "turnpike")};
  FlowState state{
      .now = 1_s, .rtt = 20_ms, .smoothed_rtt = 20_ms, .packet_size = kPacket, .headroom = 1};
  Header last = {};

  Sender() { law.set_target(Budget(1)); }

  void settle() { state.headroom = 1 - law.allowance.committed; }
  void open(double price, Header answer = {}) {
    Bytes32 header;
    PacketNote note;
    law.write_syn(state, kSyn, header.data(), note);
    last = load(header.data());
    state.now += state.rtt;
    answer.price = static_cast<float>(price);
    store(answer, header.data());
    ASSERT_TRUE(law.on_syn_ack(state, note, header.data()));
    settle();
  }
  PacketNote send() {
    Bytes32 header;
    PacketNote note;
    law.write_data(state, kPacket, header.data(), note);
    last = load(header.data());
    return note;
  }
  void acknowledge(const PacketNote& note, double price) {
    Bytes32 header;
    store({.price = static_cast<float>(price)}, header.data());
    ASSERT_TRUE(law.on_ack(state, note, header.data()));
    settle();
  }
  [[nodiscard]] double rate() const { return law.allowance.rate; }
};

Sender deadline_sender(double rate, double price) {
  ParamValues params = preset_values(kProtocol, false, "turnpike");
  params[kDeadlineRate] = 8 * rate;
  params[kFixedPrice] = price;
  Sender s;
  s.law = FlowUnderTest<ReserveFlow>(params);
  s.law.set_target(Budget(1));
  return s;
}

// A router that was descheduled delays all packets of a round trip. If promises lived for longer at
// once, links would see a part of the flow.
TEST(ReserveFlow, TheRoundTripInHeadersRisesNoFasterThanThreeQuartersOfTheTime) {
  Sender s;
  s.open(1e-6);
  s.send();
  EXPECT_EQ(s.last.rtt_ns, 20'000'000U);
  s.state.rtt = 90_ms;
  for (int i = 1; i <= 200; ++i) {
    s.state.now += 1_ms;
    s.acknowledge(s.send(), 1e-6);
    s.send();
    EXPECT_NEAR(s.last.rtt_ns, std::min(20e6 + i * 0.75e6, 90e6), 1e3) << i;
  }
  s.state.rtt = 25_ms;
  s.acknowledge(s.send(), 1e-6);
  s.send();
  EXPECT_EQ(s.last.rtt_ns, 25'000'000U) << "falls at once";
}

// The promises of a flow of one rate, whose round trip rises as fast as headers allow, sum up to at
// least 0.89 of its rate: each counts for rate x slot / life during its life. Slots of 0.1 ms make
// steps of 0.015 at the shortest life.
TEST(ReserveFlow, PromisesSumUpWhileTheRoundTripRises) {
  Sender s;
  s.open(1e-6);
  const double life = preset_values(kProtocol, false, "turnpike")[kFlowPromiseLife];
  std::vector<std::pair<double, double>> sent;  // s, life in s
  double least = 1;
  for (int i = 0; i < 2000; ++i) {
    s.state.now += 100_us;
    s.state.rtt = i < 200 ? 20_ms : 200_ms;
    s.acknowledge(s.send(), 1e-6);
    s.send();
    sent.emplace_back(to_seconds(s.state.now), life * s.last.rtt_ns * 1e-9);
    double sum = 0;
    for (const auto& [at, lives] : sent)
      if (at + lives > to_seconds(s.state.now)) sum += 100e-6 / lives;
    if (i > 150) least = std::min(least, sum);
  }
  EXPECT_GT(least, 0.87);
}

TEST(ReserveFlow, ADeadlineFlowAsksForItsRateOnceAndReturnsIt) {
  constexpr double kRate = 5e6, kPrice = 1e-12;
  Sender s = deadline_sender(kRate, kPrice);
  s.open(kPrice);
  EXPECT_EQ(s.last.preload, 0) << "a SYN has no round trip";
  const PacketNote first = s.send();
  const double before = s.rate();
  EXPECT_NEAR(s.last.preload * kPacket / 0.02, kRate - before, kRate * 0.01);
  EXPECT_FLOAT_EQ(s.last.reserve, static_cast<float>(kPrice)) << "no other price is accepted";
  s.acknowledge(first, kPrice);
  for (int i = 0; i < 40; ++i) {
    s.state.now += 1_ms;
    const PacketNote n = s.send();
    EXPECT_EQ(s.last.preload, 0) << "asked once";
    s.acknowledge(n, kPrice);
  }
  EXPECT_NEAR(s.rate(), kRate, kRate * 0.01);
  s.state.unsent = 3 * kPacket;
  s.send();
  EXPECT_EQ(s.last.preload, -1) << "the last round trip";
}

TEST(ReserveFlow, ARefusedDeadlineFlowCompetesByItsBudget) {
  constexpr double kPrice = 1e-12, kOther = 1e-6;  // $/B
  Sender s = deadline_sender(5e6, kPrice);
  s.open(kPrice);
  s.acknowledge(s.send(), kOther);
  const double restarted = s.rate();
  EXPECT_LE(restarted, kPacket / 0.02 * 1.01) << "no link expects the rate that it asked for";
  for (int i = 0; i < 400; ++i) {
    s.state.now += 1_ms;
    const PacketNote n = s.send();
    EXPECT_GT(s.last.reserve, kPrice * 1.001);
    s.acknowledge(n, kOther);
  }
  EXPECT_NEAR(s.rate(), 1 / kOther, 0.05 / kOther);
}

TEST(ReserveFlow, PricesOfTheClassThatRefusedAFlowAreNotItsOwn) {
  constexpr double kPrice = 1e-12, kOther = 1e-6;  // $/B
  Sender s = deadline_sender(5e6, kPrice);
  s.open(kPrice);
  const PacketNote refused = s.send();
  const PacketNote priced_by_class = s.send();
  s.acknowledge(refused, kOther);
  const double restarted = s.rate();
  s.state.now += 1_ms;
  s.acknowledge(priced_by_class, kPrice);
  EXPECT_DOUBLE_EQ(s.rate(), restarted) << "neither the price nor the rate that it asked for";
  EXPECT_DOUBLE_EQ(s.law.allowance.price, static_cast<float>(kOther));
}

TEST(ReserveFlow, SynAnnouncesTheFirstRound) {
  Sender s;
  s.open(1e-18);
  EXPECT_EQ(s.last.balance, 1);
  EXPECT_NEAR(s.last.preload * kSyn, 30 * kPacket, 0.1);
  EXPECT_EQ(s.last.slot, 1) << "an endless flow takes a round trip for it";
  EXPECT_NEAR(s.rate(), 30 * kPacket / 0.02, 1);

  Sender brief;
  brief.state.unsent = 5 * kPacket;
  brief.open(1e-18);
  EXPECT_NEAR(brief.last.preload * kSyn, 5 * kPacket, 0.1);
  EXPECT_EQ(brief.last.slot, 10) << "a tenth of a round trip";
  EXPECT_NEAR(brief.rate(), 10 * 5 * kPacket / 0.02, 1);
}

TEST(ReserveFlow, FirstRoundHeedsLimitWaitAndBudget) {
  Sender limited;
  limited.open(1e-18, {.reserve = 1e5F});
  EXPECT_NEAR(limited.rate(), 1e5, 1);

  Sender waiting;
  waiting.open(1e-18, {.age_ns = 7'000'000});
  EXPECT_EQ(waiting.law.opening.first_wait, 7_ms);

  Sender poor;  // 1 $/s at 1e-3 $/B buy one packet per second
  poor.open(1e-3);
  EXPECT_NEAR(poor.rate(), 1000, 1e-3);
  EXPECT_NEAR(to_seconds(poor.law.opening.first_wait), 1 - 0.02, 1e-6);
  EXPECT_NEAR(poor.law.allowance.committed, 1, 1e-9);
}

TEST(ReserveFlow, AnnouncesWhatItPromisesToSendOneRoundTripLater) {
  Sender s;
  s.open(1e-7);  // the budget buys 10 MB/s; the first round is 1.5 MB/s
  s.send();
  EXPECT_NEAR(s.last.slot, kPacket / 1.5e6, 1e-9);
  EXPECT_NEAR(s.last.reserve * 8 * 1.5e6, 1, 1e-5) << "it wants to grow eightfold at most";
  EXPECT_NEAR((1 + s.last.preload) * 1.5e6, 10e6, 10) << "and its budget buys that much";
  EXPECT_EQ(s.last.age_ns, 20'000'000U) << "the price is of the SYN";
}

TEST(ReserveFlow, RateIsTheAverageOfWhatWasPromised) {
  Sender s;
  s.open(1e-7);
  const PacketNote note = s.send();
  const double before = s.rate();
  s.acknowledge(note, 1e-7);
  // One slot of 0.67 ms within the 6 ms of the SYN's promise.
  EXPECT_GT(s.rate(), before);
  EXPECT_LT(s.rate(), 0.3 * 10e6);
  for (int i = 0; i < 400; ++i) s.acknowledge(s.send(), 1e-7);
  EXPECT_NEAR(s.rate(), 10e6, 1e4);
}

TEST(ReserveFlow, NewPriceHoldsAtOnce) {
  Sender s;
  s.open(1e-7);
  for (int i = 0; i < 400; ++i) s.acknowledge(s.send(), 1e-7);
  s.acknowledge(s.send(), 4e-7);
  EXPECT_NEAR(s.rate(), 2.5e6, 1e4);
  EXPECT_LE(s.law.allowance.committed, 1 + 1e-9);
}

TEST(ReserveFlow, HostWithoutHeadroomIsNotOverspent) {
  Sender s;
  s.open(1e-7);
  s.state.headroom = 0;
  const double committed = s.law.allowance.committed;
  for (int i = 0; i < 100; ++i) {
    const PacketNote note = s.send();
    Bytes32 header;
    store({.price = 1e-7F}, header.data());
    s.law.on_ack(s.state, note, header.data());
    EXPECT_LE(s.law.allowance.committed, committed * (1 + 1e-9));
  }
}

TEST(ReserveFlow, LastRoundPromisesNothing) {
  Sender s;
  s.state.unsent = 100 * kPacket;
  s.open(1e-18);
  s.state.unsent = 20 * kPacket;  // less than the 30 packets of one RTT
  s.send();
  EXPECT_EQ(s.last.preload, -1);
  EXPECT_EQ(s.last.reserve, 0);
}

TEST(ReserveFlow, WantsNoMoreThanItsApplicationOrItsPort) {
  Sender s;
  s.state.limit = 2e6;
  s.open(1e-18);
  s.send();
  EXPECT_NEAR(1 / s.last.reserve, 2e6, 10);
  s.state.line = 1e6;
  s.send();
  EXPECT_NEAR(1 / s.last.reserve, 1e6, 10);
}

TEST(ReserveFlow, StarvedFlowIsHeardOfNowAndThen) {
  Sender s;
  s.open(1e3);  // a packet costs 1e6 s of its budget
  EXPECT_NEAR(s.rate(), kPacket / ReserveFlow::kDeaf, 1e-6);
  EXPECT_NEAR(s.law.allowance.committed, 1, 1e-9) << "what is beyond the budget is not committed";
}

TEST(ReserveFlow, PauseAndTimeOutAreForgotten) {
  Sender s;
  s.open(1e-7);
  for (int i = 0; i < 400; ++i) s.acknowledge(s.send(), 1e-7);
  s.law.on_pause(s.state, 3_ms);  // half of the averaging time of promises (6 ms)
  EXPECT_NEAR(s.rate(), 5e6, 1.5e6);
  s.law.on_pause(s.state, 1_s);
  EXPECT_NEAR(s.rate(), kPacket / 0.02, 1) << "a packet per round trip";
  for (int i = 0; i < 400; ++i) s.acknowledge(s.send(), 1e-7);
  s.law.on_timeout(s.state);
  EXPECT_NEAR(s.rate(), kPacket / 0.02, 1);
}

TEST(ReserveFlow, NonsenseIsNotBelieved) {
  Sender s;
  s.open(1e-7);
  const PacketNote note = s.send();
  Bytes32 header;
  store({.price = std::numeric_limits<float>::quiet_NaN()}, header.data());
  EXPECT_FALSE(s.law.on_ack(s.state, note, header.data()));
  EXPECT_TRUE(std::isfinite(s.rate()));
}

}  // namespace
}  // namespace turnpike::fcp::reserve_flow_test
