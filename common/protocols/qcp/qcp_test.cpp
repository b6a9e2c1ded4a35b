// SPDX-License-Identifier: BSD-3-Clause
// Equations 4, 12, 13 and 16 by hand, the paper's example of efficient sharing, and counted flows.
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/qcp/flow.h"
#include "common/protocols/qcp/header.h"
#include "common/protocols/qcp/link.h"
#include "tests/support/flow_under_test.h"
#include "tests/support/gauge.h"

namespace turnpike::qcp {
namespace {

constexpr LinkState kIdle{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};  // 100 Mbit/s
constexpr uint32_t kRtt = 100'000'000;                                     // ns

ParamValues link_params(double interval = 0.1, Count count = Count::kExact) {
  ParamValues p(kLinkParams);
  p[kInterval] = interval;
  p[kCount] = static_cast<double>(count);
  return p;
}

double rate_of(const LinkLaw& link) { return gauge(link, "rate_mbps") / 8e-6; }

struct Packet {
  std::array<uint8_t, kHeaderSize> bytes{};
  explicit Packet(const Header& h) { store(h, bytes.data()); }
  [[nodiscard]] double rate() const { return load(bytes.data()).common.rate; }
};

Header header(double own_rate, uint32_t rtt_ns = kRtt) {
  return {.common = {.rtt_ns = rtt_ns}, .interval = static_cast<float>(1 / own_rate)};
}

uint64_t arrive(Link& link, const Header& h, double bytes, unsigned shard = 0) {
  Packet p(h);
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), static_cast<uint32_t>(bytes)}}};
  return link.arrive(shard, burst, kIdle, 1_s);
}

TEST(QcpLink, AnIntervalIsEquation4) {
  Link link(link_params(), 2);
  EXPECT_EQ(link.update(kIdle, 1_s), 1_s + 100_ms);
  EXPECT_EQ(rate_of(link), 12.5e6) << "an idle link is all the newcomer's";
  // Three flows on two lcores: 1, 2 and 0.5 MB/s, each at the rate in its headers.
  arrive(link, header(1e6), 100e3, 0);
  arrive(link, header(2e6), 200e3, 1);
  arrive(link, header(0.5e6), 50e3, 1);
  LinkState busy = kIdle;
  busy.queue = 250e3;
  link.update(busy, 1_s + 100_ms);
  EXPECT_NEAR(gauge(link, "flows"), 3, 1e-6);
  EXPECT_NEAR(rate_of(link), (12.5e6 - 250e3 / 0.1) / 3, 1);
}

TEST(QcpLink, EqualFlowsAreCountedExactlyWhateverTheirRoundTrips) {
  for (const unsigned flows : {1U, 7U, 100U}) {
    Link link(link_params(0.05), 4);
    Nanos now = link.update(kIdle, 0_s);
    // Flow f sends a packet every 5 + f ms; R_j is that.
    std::vector<double> next(flows, 0);
    for (int i = 0; i < 2000; ++i) {
      for (unsigned f = 0; f < flows; ++f)
        for (; next[f] < to_seconds(now); next[f] += 5e-3 + f * 1e-3)
          arrive(link, header(1000 / (5e-3 + f * 1e-3), (f + 1) * 10'000'000), 1000, f % 4);
      now = link.update(kIdle, now);
    }
    // A packet falls into one interval or the next: tolerates half of one flow's.
    EXPECT_NEAR(gauge(link, "flows") / flows, 1, 0.15) << flows;
  }
}

// Section 6.1: X = 100, tau = 1, users of 10, 50 and 70 units/s, R(t-d) = 40.
double example(Count count, uint32_t rtt_ns) {
  constexpr LinkState kHundred{.capacity = 100, .queue = 0, .buffer = 1e6};
  constexpr LinkState kForty{.capacity = 40, .queue = 0, .buffer = 1e6};
  ParamValues params = link_params(1, count);
  params[kFirstRtt] = 1;
  params[kMaxRtt] = 60;
  Link link(params, 1);
  const auto arrive_at = [&](double rate) { arrive(link, header(rate, rtt_ns), rate); };
  link.update(kForty, 0_s);  // an idle link's rate is its capacity
  EXPECT_EQ(rate_of(link), 40);
  for (const double rate : {10.0, 50.0, 70.0}) arrive_at(rate);
  link.update(kHundred, 1_s);
  return rate_of(link);
}

TEST(QcpLink, EfficientSharingIsThePapersExample) {
  EXPECT_NEAR(example(Count::kSharing, kRtt), 100 / 2.25, 1e-4);
  EXPECT_NEAR(example(Count::kExact, kRtt), 100 / 3.0, 1e-4) << "processor sharing";
  EXPECT_NEAR(example(Count::kSimplified, kRtt), 100 / (130 / 40.0), 1e-4) << "equation 13";
  EXPECT_NEAR(example(Count::kSharing, 0), 100 / 3.0, 1e-4) << "flows in their first round";
}

TEST(QcpLink, AnIntervalIsTheAverageRoundTripOrTwo) {
  EXPECT_EQ(Link(link_params(0), 1).update(kIdle, 0_s), 100_ms);
  EXPECT_EQ(Link(link_params(0, Count::kSharing), 1).update(kIdle, 0_s), 200_ms);
  EXPECT_EQ(ShortLink(ParamValues(kShortLinkParams), 1).update(kIdle, 0_s), 200_ms);
}

TEST(QcpLink, WhatSaysNothingCountsAsIfItHadTheLinksRate) {
  Link link(link_params(), 1);
  link.update(kIdle, 1_s);
  std::array<LinkPacket, 1> burst{{{nullptr, 2'500'000}}};  // 100 ms of twice the capacity
  EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0U);
  link.update(kIdle, 1_s + 100_ms);
  EXPECT_NEAR(gauge(link, "flows"), 2, 1e-9);
  EXPECT_NEAR(rate_of(link), 12.5e6 / 2, 1e-3);
}

TEST(QcpShortLink, IsEquation14) {
  ParamValues params(kShortLinkParams);
  params[kInterval] = 0.1;
  ShortLink link(params, 1);
  Nanos now = link.update(kIdle, 0_s);
  for (const double expected : {12.5e6 / 2, 12.5e6 / 4, 12.5e6 / 4}) {
    // 2.5 MB in 100 ms, whatever their flows; then at the rate C.
    const double bytes = expected == 12.5e6 / 4 && rate_of(link) < 4e6 ? 1.25e6 : 2.5e6;
    std::array<uint8_t, kShortHeaderSize> h{};
    explicit_rate::store({.rtt_ns = kRtt}, h.data());
    std::array<LinkPacket, 1> burst{{{h.data(), static_cast<uint32_t>(bytes)}}};
    EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0U);
    EXPECT_NEAR(explicit_rate::load(h.data()).rate / rate_of(link), 1, 1e-6);
    now = link.update(kIdle, now);
    EXPECT_NEAR(rate_of(link), expected, 1);
  }
}

TEST(QcpLink, RateStaysWithinItsBounds) {
  Link link(link_params(), 1);
  Nanos now = link.update(kIdle, 0_s);
  LinkState flooded = kIdle;
  flooded.queue = 1e9;
  link.update(flooded, now);
  EXPECT_NEAR(rate_of(link), 0.05 * 12.5e6, 1e-3) << "the floor of the numerator";
  // The least rate is 1000 B in 2 s, and one packet counts for at most 2 s of a flow.
  for (int i = 0; i < 1000; ++i) arrive(link, header(1e-30), 1000);
  now += 200_ms;
  link.update(kIdle, now);
  EXPECT_NEAR(gauge(link, "flows"), 1000 * 2 / 0.2, 1e-6);
  for (int i = 0; i < 100'000; ++i) arrive(link, header(1e-30), 1000);
  link.update(kIdle, now + 100_ms);
  EXPECT_NEAR(rate_of(link), 500, 1e-9);
}

TEST(QcpLink, RefusesFiguresThatNobodyMeans) {
  Link link(link_params(), 1);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const float bad : {nan, inf, 0.0F, -1.0F}) {
    EXPECT_EQ(arrive(link, {.common = {}, .interval = bad}, 1000), 1U);
    EXPECT_EQ(arrive(link, {.common = {.rate = bad}, .interval = 1e-6F}, 1000), 1U);
  }
}

/// A link that polices, with a rate of 1.25 MB/s: ten flows, for longer than two round trips.
class Policed : public ::testing::Test {
 protected:
  static constexpr double kRate = 1.25e6;

  explicit Policed(Police police = Police::kDrop)
      : link(
            [&] {
              ParamValues params = link_params();
              params[kPolice] = static_cast<double>(police);
              return params;
            }(),
            1) {
    now = link.update(kIdle, 0_s);
    Nanos before{0};
    for (int i = 0; i < 20; ++i) {
      const auto bytes = static_cast<uint32_t>(kRate * to_seconds(now - before));
      for (uint32_t flow = 100; flow < 110; ++flow) {
        Packet p(header(kRate));
        std::array<LinkPacket, 1> burst{{{.header = p.bytes.data(), .size = bytes, .flow = flow}}};
        EXPECT_EQ(link.arrive(0, burst, kIdle, now), 0U);
      }
      before = now;
      now = link.update(kIdle, now);
    }
    EXPECT_NEAR(rate_of(link), kRate, kRate * 1e-3);
  }

  struct Shares {
    double dropped = 0, demoted = 0;
  };
  /// Of 20,000 packets that come at `rate` B/s, with headers that say `said`, after the first
  /// 5,000.
  Shares police(double rate, double said, uint32_t flow, const LinkState& state = kIdle) {
    Shares shares;
    for (int i = 0; i < 20'000; ++i) {
      now += from_seconds(1000 / rate);
      Packet p(header(said));
      std::array<LinkPacket, 1> burst{{{.header = p.bytes.data(), .size = 1000, .flow = flow}}};
      link.arrive(0, burst, state, now);
      if (i < 5000) continue;
      shares.dropped += burst[0].action == AqmAction::kDrop ? 1 / 15e3 : 0;
      shares.demoted += burst[0].queue_class == 1 ? 1 / 15e3 : 0;
    }
    return shares;
  }

  Link link;
  Nanos now;
};

TEST_F(Policed, DropsAsMuchOfAFlowAsItIsTooFastWhateverItSays) {
  EXPECT_TRUE(link.traits().marks_or_drops);
  EXPECT_TRUE(link.traits().flows);
  EXPECT_FALSE(Link(link_params(), 1).traits().marks_or_drops);
  EXPECT_EQ(police(0.8 * kRate, kRate, 1).dropped, 0);
  EXPECT_EQ(police(kRate, kRate, 2).dropped, 0) << "the link's rate";
  EXPECT_NEAR(police(2 * kRate, 2 * kRate, 3).dropped, 0.5, 0.02);
  EXPECT_NEAR(police(2 * kRate, kRate, 4).dropped, 0.5, 0.02) << "it lies";
  EXPECT_NEAR(police(10 * kRate, kRate / 1e3, 5).dropped, 0.9, 0.02) << "it lies";
  EXPECT_EQ(police(kRate, kRate * 1e3, 6).dropped, 0)
      << "its rate is right, whatever its headers say";
}

// A lying flow is not counted as the several that its packets pretend to be.
TEST_F(Policed, AFlowCountsOnce) {
  police(2 * kRate, kRate, 1);
  link.update(kIdle, now);
  std::array<Gauge, LinkLaw::kMaxGauges> gauges;
  const size_t n = link.gauges(gauges);
  const auto flows = std::ranges::find(std::span(gauges).first(n), "flows", &Gauge::name);
  EXPECT_NEAR(flows->value, 1, 0.05);
}

class Demoted : public Policed {
 protected:
  Demoted() : Policed(Police::kDemote) {}
};

TEST_F(Demoted, TheExcessWaitsBehindAllOthers) {
  EXPECT_EQ(link.traits().classes, 2U);
  EXPECT_TRUE(std::isinf(link.weight(0)));
  EXPECT_TRUE(std::isfinite(link.weight(1)));
  LinkState state = kIdle;
  state.buffer = 1e6;
  const Shares fine = police(2 * kRate, kRate, 1, state);
  EXPECT_NEAR(fine.demoted, 0.5, 0.02);
  EXPECT_EQ(fine.dropped, 0);
  state.queues[1] = state.buffer;
  const Shares full = police(2 * kRate, kRate, 1, state);
  EXPECT_NEAR(full.dropped, 0.5, 0.02);
  EXPECT_EQ(full.demoted, 0);
}

TEST_F(Demoted, BesideAQueueForTcpTheExcessIsDropped) {
  ParamValues params(kLinkParams);
  params[kPolice] = static_cast<double>(Police::kDemote);
  params[size_t{kOwnLinkParamCount} + coexistence::kTcpQueue] = coexistence::kRed;
  EXPECT_EQ(Link(params, 1).traits().classes, 1U);
}

TEST(QcpFlow, SendsItsWeightTimesWhatItIsToldAndSaysSo) {
  ParamValues params(kFlowParams);
  params[kWeight] = 3;
  params[kStart] = static_cast<double>(Start::kWindow);
  FlowUnderTest<Flow> flow(params);
  std::array<uint8_t, kHeaderSize> h{};
  PacketNote note;
  FlowState s;
  s.packet_size = 1500;
  flow.write_syn(s, 80, h.data(), note);
  EXPECT_FLOAT_EQ(load(h.data()).interval, 3 * 0.1F / 3000) << "w / R_init";
  params[kSyn] = static_cast<double>(Syn::kFlow);
  Flow(params).write_syn(s, 80, h.data(), note);
  EXPECT_FLOAT_EQ(load(h.data()).interval * 80, 3 * 0.1F) << "a flow of its weight, for 100 ms";
  s.rtt = s.smoothed_rtt = 50_ms;
  store({.common = {.rate = 1e6F}, .interval = 1}, h.data());
  EXPECT_TRUE(flow.on_syn_ack(s, note, h.data()));
  EXPECT_EQ(flow.window(), 3000);
  EXPECT_TRUE(std::isinf(flow.rate_bps()));
  flow.write_data(s, 1500, h.data(), note);
  EXPECT_EQ(load(h.data()).common.rtt_ns, 0U) << "its first round";
  EXPECT_FLOAT_EQ(load(h.data()).interval, 3 * 0.05F / 3000);

  store({.common = {.rate = 1e6F}, .interval = 1}, h.data());
  EXPECT_TRUE(flow.on_ack(s, note, h.data()));
  EXPECT_EQ(flow.rate_bps(), 24e6);
  EXPECT_TRUE(std::isinf(flow.window()));
  flow.write_data(s, 1500, h.data(), note);
  EXPECT_EQ(load(h.data()).common.rtt_ns, 50'000'000U);
  EXPECT_FLOAT_EQ(load(h.data()).interval, 1e-6F) << "w / R_j is 1 / R";

  store({.common = {.rate = 10}, .interval = 1}, h.data());
  EXPECT_TRUE(flow.on_ack(s, note, h.data()));
  EXPECT_EQ(flow.rate_bps(), 240e3) << "a packet in a round trip";
  flow.write_data(s, 1500, h.data(), note);
  EXPECT_FLOAT_EQ(load(h.data()).interval, 3 / (1500 / 0.05F));
  store({.common = {.rate = std::nanf("")}, .interval = 1}, h.data());
  EXPECT_FALSE(flow.on_ack(s, note, h.data()));
}

TEST(QcpFlow, MayBeginWithAllThatItHasOrWithNothingOfItsOwn) {
  ParamValues params(kFlowParams);
  std::array<uint8_t, kHeaderSize> h{};
  FlowState s;
  s.rtt = s.smoothed_rtt = 50_ms;
  s.packet_size = 1500;
  s.unsent = 40e3;
  params[kFirstWindow] = 1e9;
  params[kStart] = static_cast<double>(Start::kWindow);
  FlowUnderTest<Flow> naive(params);
  store({.common = {.rate = 1e6F}, .interval = 1}, h.data());
  EXPECT_TRUE(naive.on_syn_ack(s, {}, h.data()));
  EXPECT_EQ(naive.window(), 40.5e3) << "whole packets";
  params[kStart] = static_cast<double>(Start::kRate);
  FlowUnderTest<Flow> prompt(params);
  EXPECT_TRUE(prompt.on_syn_ack(s, {}, h.data()));
  EXPECT_EQ(prompt.rate_bps(), 8e6);
}

}  // namespace
}  // namespace turnpike::qcp
