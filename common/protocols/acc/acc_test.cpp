// SPDX-License-Identifier: BSD-3-Clause
// Each law alone, by hand: the estimator, the virtual queue, Algorithm 1, low rates, invalid input.
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "common/protocols/acc/flow.h"
#include "common/protocols/acc/link.h"
#include "common/protocols/acc/receiver.h"
#include "tests/support/acc_network.h"
#include "tests/support/flow_under_test.h"

namespace turnpike::acc::testing {
namespace {

using Bytes8 = std::array<uint8_t, kHeaderSize>;

Bytes8 bytes_of(const Header& h) {
  Bytes8 bytes{};
  store(h, bytes.data());
  return bytes;
}

struct Sink {
  Receiver law;
  void probe(Nanos now, uint16_t round, float virtual_delay = 0) {
    law.on_probe(bytes_of({Role::kOutOfBand, round, virtual_delay}).data(), now);
  }
  Header data(Nanos now, Role role = Role::kData, uint16_t round = 0) {
    Bytes8 bytes = bytes_of({role, round, 0});
    law.on_data(1000, bytes.data(), now);
    return load(bytes.data());
  }
};

TEST(AccReceiver, CountsWhatComesBetweenTheTwoAsAFluidWould) {
  Sink s;
  s.data(1_s);
  s.data(1_s + 10_ms);
  s.probe(1_s + 14_ms, 7);  // 0.6 of the next packet's interval lies after it
  s.data(1_s + 20_ms);
  s.data(1_s + 30_ms);
  const Header h = s.data(1_s + 40_ms, Role::kInBand, 7);
  EXPECT_EQ(h.role, Role::kEstimate);
  EXPECT_EQ(h.round, 7);
  EXPECT_FLOAT_EQ(h.measure, 2600);  // 26 ms at 100 kB/s
}

TEST(AccReceiver, NothingWaitsWhereThePairComesTogether) {
  Sink s;
  s.data(1_s);
  s.probe(1_s + 10_ms, 1);
  EXPECT_EQ(s.data(1_s + 10_ms, Role::kInBand, 1).measure, 0);
}

TEST(AccReceiver, VirtualDelaysCountAtTheRateReceivedSinceTheLastPair) {
  Sink s;
  s.probe(1_s, 1, 0.5F);
  EXPECT_EQ(s.data(1_s, Role::kInBand, 1).measure, 0) << "there is no rate yet";
  for (int i = 1; i < 10; ++i) s.data(1_s + 10_ms * i);
  s.probe(1_s + 100_ms, 2, 0.05F);
  EXPECT_FLOAT_EQ(s.data(1_s + 100_ms, Role::kInBand, 2).measure, 5000);
}

TEST(AccReceiver, HalfAPairIsNone) {
  Sink s;
  s.data(1_s);
  EXPECT_EQ(s.data(1_s + 1_ms, Role::kInBand, 1).role, Role::kInBand) << "its probe was lost";
  s.probe(1_s + 2_ms, 2);  // its data is
  s.data(1_s + 3_ms);
  EXPECT_EQ(s.data(1_s + 4_ms, Role::kInBand, 3).role, Role::kInBand);
  s.probe(1_s + 5_ms, 4, std::nanf(""));
  EXPECT_EQ(s.data(1_s + 6_ms, Role::kInBand, 4).role, Role::kInBand);
}

constexpr LinkState kIdle{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};

uint64_t pass(Link& link, Bytes8& header, uint32_t size = 1000, unsigned shard = 0) {
  std::array<LinkPacket, 1> burst{{{header.data(), size}}};
  return link.arrive(shard, burst, kIdle, 1_s);
}

double delay_of(Link& link, float before = 0) {
  Bytes8 probe = bytes_of({Role::kOutOfBand, 1, before});
  EXPECT_EQ(pass(link, probe, 0), 0U);
  return load(probe.data()).measure;
}

TEST(AccLink, TheVirtualQueueIsTheEquations) {
  Link link(ParamValues(kLinkParams), 2);
  EXPECT_EQ(link.update(kIdle, 1_s), 1_s + 1_ms);
  Bytes8 data = bytes_of({});
  for (unsigned i = 0; i < 30; ++i) pass(link, data, 1000, i % 2);  // on two lcores
  link.update(kIdle, 1_s + 1_ms);
  double queue = 30e3 - 0.98 * 12.5e6 * 1e-3;
  double capacity = 0.98 * 12.5e6 + 0.1 * (0.98 * 12.5e6 * 1e-3 - 30e3);
  EXPECT_NEAR(delay_of(link) / (queue / capacity), 1, 1e-6);
  EXPECT_NEAR(delay_of(link, 0.25F), 0.25 + queue / capacity, 1e-6) << "they add up";
  link.update(kIdle, 1_s + 2_ms);
  queue -= capacity * 1e-3;
  capacity += 0.1 * 0.98 * 12.5e6 * 1e-3;
  EXPECT_NEAR(delay_of(link) / (queue / capacity), 1, 1e-6);
  for (int i = 0; i < 100'000; ++i) link.update(kIdle, 1_s + 1_ms * (3 + i));
  EXPECT_EQ(delay_of(link), 0);
  std::array<Gauge, 3> g;
  ASSERT_EQ(link.gauges(g), 3U);
  EXPECT_NEAR(g[0].value, 100, 1e-9) << "never more than the link has";
}

TEST(AccLink, ADropTailLinkAddsNoDelay) {
  Link link(with<LinkParam>(kLinkParams, {{kQueue, kDropTail}}), 1);
  EXPECT_EQ(link.update(kIdle, 1_s), kNever);
  Bytes8 data = bytes_of({});
  for (int i = 0; i < 1000; ++i) pass(link, data);
  EXPECT_EQ(delay_of(link, 0.5F), 0.5);
}

TEST(AccLink, ProbesGoFirst) {
  const Link link(ParamValues(kLinkParams), 1);
  Bytes8 probe = bytes_of({Role::kOutOfBand, 1, 0}), in_band = bytes_of({Role::kInBand, 1, 0});
  EXPECT_EQ(link.classify({probe.data(), 60}), 0U);
  EXPECT_EQ(link.classify({in_band.data(), 1000}), 1U);
  EXPECT_EQ(link.classify({nullptr, 1000}), 1U) << "other traffic";
  EXPECT_TRUE(std::isinf(link.weight(0)));
  EXPECT_EQ(link.weight(1), 1);
}

TEST(AccLink, RefusesWhatNoSenderSays) {
  Link link(ParamValues(kLinkParams), 1);
  const float inf = std::numeric_limits<float>::infinity();
  for (const Header& h : {Header{Role::kOutOfBand, 1, -1}, Header{Role::kOutOfBand, 1, inf},
                          Header{Role::kOutOfBand, 1, std::nanf("")}, Header{Role::kInBand, 1, 5},
                          Header{Role::kData, 0, 5}, Header{Role::kEstimate, 1, 0},
                          Header{static_cast<Role>(9), 1, 0}}) {
    Bytes8 bytes = bytes_of(h);
    EXPECT_EQ(pass(link, bytes), 1U);
  }
}

/// A flow with a round trip of 100 ms whose rounds the test controls.
struct Sender {
  FlowUnderTest<Flow> law;
  FlowState state{.now = 1_s, .rtt = 100_ms, .smoothed_rtt = 100_ms, .packet_size = 1000};

  /// Algorithm 1 as published, unless `params` change it.
  explicit Sender(const FlowChanges& params = {}, Base base = Base::kPresent)
      : law(with_base(params, base)) {
    law.on_syn_ack(state, {}, nullptr);
  }
  static ParamValues with_base(const FlowChanges& params, Base base) {
    ParamValues values = with(kFlowParams, params);
    values[kBase] = static_cast<double>(base);
    return values;
  }
  [[nodiscard]] double window() const { return law.window() - 1000; }
  [[nodiscard]] double rate() const { return law.allowance.rate; }

  /// Sends the pair and then data, so that the round's rate is one window per round trip. Returns
  /// the in-band packet's note.
  PacketNote send_round() {
    Bytes8 header;
    EXPECT_TRUE(law.allowance.probe);
    law.write_probe(state, 60, header.data());
    EXPECT_FALSE(law.allowance.probe);
    probe = load(header.data());
    PacketNote first, note;
    law.write_data(state, 1000, header.data(), first);
    in_band = load(header.data());
    const auto packets = static_cast<int>(std::ceil(window() / 1000));
    for (int i = 1; i < packets; ++i) law.write_data(state, 1000, header.data(), note);
    EXPECT_EQ(load(header.data()).role, window() > 1000 ? Role::kData : Role::kInBand);
    state.now += 100_ms;
    return first;
  }
  /// A whole round with this estimate at its end.
  void round(double accumulation) {
    const PacketNote note = send_round();
    const Bytes8 echo =
        bytes_of({Role::kEstimate, in_band.round, static_cast<float>(accumulation)});
    EXPECT_TRUE(law.on_ack(state, note, echo.data()));
    EXPECT_TRUE(law.allowance.probe);
  }
  /// Rounds without accumulation until the window is this.
  void grow_to(double bytes) {
    while (window() < bytes) round(0);
  }
  Header probe, in_band;
};

TEST(AccFlow, APairHasOneRoundAndTheNextAnother) {
  Sender s;
  s.round(0);
  EXPECT_EQ(s.probe.role, Role::kOutOfBand);
  EXPECT_EQ(s.in_band.role, Role::kInBand);
  EXPECT_EQ(s.probe.round, s.in_band.round);
  const uint16_t first = s.in_band.round;
  s.round(0);
  EXPECT_NE(s.in_band.round, first);
}

TEST(AccFlow, DoublesUntilItMeetsCongestionThenFollowsTheEquation) {
  Sender s;
  for (const double expected : {2000, 4000, 8000, 16000}) {
    s.round(0);
    EXPECT_EQ(s.window(), expected);
  }
  EXPECT_NEAR(s.rate(), 160e3, 1e-6);
  s.round(7000);
  EXPECT_EQ(s.window(), 14000);  // 0.5 (7000 - 3000) less
  s.round(2000);
  EXPECT_EQ(s.window(), 14500);
  s.round(0);
  EXPECT_EQ(s.window(), 15500) << "one packet upwards, not 1.5";
}

TEST(AccFlow, WhatAMinimumRateAccumulatesDoesNotCount) {
  Sender s({{kMinimumRate, 100e3 * 8}});
  s.grow_to(16000);
  s.round(7900);  // x = 160 kB/s, so a_p = 2962 B
  EXPECT_EQ(s.window(), 32000) << "still doubling";
  s.round(20000);  // x = 320 kB/s
  EXPECT_NEAR(s.window(), 32000 - 0.5 * (20000 * (1 - 100.0 / 320) - 3000), 1e-6);
}

TEST(AccFlow, TheRateIsThatOfTheDataSentNotOfTheWindow) {
  Sender s({{kMinimumRate, 100e3 * 8}});
  s.grow_to(16000);
  Bytes8 header;
  PacketNote first, note;
  s.law.write_probe(s.state, 60, header.data());
  s.law.write_data(s.state, 1000, header.data(), first);
  const uint16_t round = load(header.data()).round;
  for (int i = 1; i <= 8; ++i) {  // x = 90.9 kB/s, below x_e; 160 kB/s would exceed the target
    s.state.now += 11_ms;
    s.law.write_data(s.state, 1000, header.data(), note);
  }
  s.state.now += 12_ms;
  s.law.on_ack(s.state, first, bytes_of({Role::kEstimate, round, 20000}).data());
  EXPECT_NEAR(s.window(), 2 * (9000 + 1000), 1e-6) << "still doubling what it used";
}

TEST(AccFlow, BelowItsMinimumRateItNeverYieldsButToItsLimit) {
  Sender s({{kMinimumRate, 1e9}, {kLimit, 30e3}});
  s.grow_to(16000);
  s.round(29e3);
  EXPECT_EQ(s.window(), 32000);
  s.round(40e3);
  EXPECT_EQ(s.window(), 32000 - 0.5 * 10e3);
}

TEST(AccFlow, AWeightMultipliesTheTarget) {
  Sender s({{kWeight, 10}});
  s.grow_to(64000);
  s.round(40e3);
  EXPECT_EQ(s.window(), 64000 - 0.5 * 10e3);
}

TEST(AccFlow, LossesHalveAWindowOfPacketsOnce) {
  Sender s;
  s.grow_to(16000);
  const auto sent_now = [&s] {
    Bytes8 header;
    PacketNote note;
    s.law.write_data(s.state, 1000, header.data(), note);
    return note;
  };
  const PacketNote first = sent_now();
  s.law.on_loss(s.state, first);
  s.law.on_loss(s.state, first);
  EXPECT_EQ(s.window(), 8000);
  s.law.on_loss(s.state, sent_now());
  EXPECT_EQ(s.window(), 4000);
  s.round(0);
  EXPECT_EQ(s.window(), 5000) << "no slow start again";
}

TEST(AccFlow, AnEstimateHoldsForTheWindowThatItMeasures) {
  Sender s({}, Base::kMeasured);
  for (const double expected : {2000, 3000, 4000, 6000, 8000, 12000, 16000}) {
    s.round(0);
    EXPECT_EQ(s.window(), expected) << "twice what nothing waited of, or a packet more";
  }
  s.round(7000);  // of the 12 kB before
  EXPECT_EQ(s.window(), 12000 - 0.5 * 4000);
  s.round(9000);  // of the 16 kB
  EXPECT_EQ(s.window(), 10000) << "16 kB less 0.5 6000 are more than what is left";
  s.round(3500);
  EXPECT_EQ(s.window(), 9750);
}

TEST(AccFlow, AWindowSmallerThanWhatIsInFlightIsUsed) {
  Sender s({}, Base::kMeasured);
  s.grow_to(64000);
  s.round(64e3);
  const double window = s.window();
  Bytes8 header;
  PacketNote note;
  s.law.write_probe(s.state, 60, header.data());
  s.law.write_data(s.state, 1000, header.data(), note);  // and nothing else in this round
  s.state.now += 100_ms;
  s.state.in_flight = 64e3;
  const Bytes8 echo = bytes_of({Role::kEstimate, load(header.data()).round, 3000});
  EXPECT_TRUE(s.law.on_ack(s.state, note, echo.data()));
  EXPECT_GE(s.window(), window);
}

TEST(AccFlow, ARoundWithoutAnEstimateChangesNothingAndTheNextBegins) {
  Sender s;
  s.grow_to(16000);
  EXPECT_TRUE(s.law.on_ack(s.state, s.send_round(), bytes_of(s.in_band).data()));
  EXPECT_TRUE(s.law.allowance.probe);
  s.law.on_ack_without_feedback(s.state, s.send_round());
  EXPECT_TRUE(s.law.allowance.probe);
  EXPECT_EQ(s.window(), 16000);
  for (const Header& h : {Header{Role::kEstimate, 9999, 0}, Header{Role::kEstimate, 0, -1},
                          Header{Role::kEstimate, 0, std::nanf("")}, Header{Role::kOutOfBand}}) {
    const PacketNote note = s.send_round();
    Header forged = h;
    if (forged.round == 0) forged.round = s.in_band.round;
    EXPECT_FALSE(s.law.on_ack(s.state, note, bytes_of(forged).data()));
    EXPECT_EQ(s.window(), 16000);
  }
}

TEST(AccFlow, OnePacketAWindowIsFollowedByFewerThanOneARoundTrip) {
  Sender s;
  s.round(20e3);
  EXPECT_EQ(s.window(), 1000);
  EXPECT_EQ(s.rate(), 5000);
  s.round(4000);
  EXPECT_EQ(s.rate(), 2500);
  EXPECT_EQ(s.law.allowance.floor, 2500) << "the transport may go that slow";
  s.round(2000);
  EXPECT_EQ(s.rate(), 10e3) << "back to a packet a round trip at once";
  EXPECT_EQ(s.window(), 1000);
  s.round(2000);
  EXPECT_EQ(s.window(), 1500);
}

}  // namespace
}  // namespace turnpike::acc::testing
