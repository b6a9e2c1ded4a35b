// SPDX-License-Identifier: BSD-3-Clause
// One update against the law by hand, many against its fixed point, and invalid feedback.
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "common/protocols/explicit_rate/flow.h"
#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/rcp/link.h"
#include "tests/support/flow_under_test.h"
#include "tests/support/gauge.h"

namespace turnpike::rcp {
namespace {

using explicit_rate::Flow, explicit_rate::Header, explicit_rate::kHeaderSize, explicit_rate::load,
    explicit_rate::store;

constexpr LinkState kIdle{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};  // 100 Mbit/s

struct Packet {
  std::array<uint8_t, kHeaderSize> bytes{};
  explicit Packet(const Header& h) { store(h, bytes.data()); }
  [[nodiscard]] double rate() const { return load(bytes.data()).rate; }
};

double rate_of(const Link& link) {
  std::array<Gauge, 2> g;
  link.gauges(g);
  return g[0].value / 8e-6;
}

uint64_t arrive(Link& link, Packet& p, uint32_t size, unsigned shard = 0, bool admitted = true) {
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), size, false, admitted}}};
  return link.arrive(shard, burst, kIdle, 1_s);
}

TEST(RcpLink, StampsTheLeastRateOnThePath) {
  Link link(ParamValues(kLinkParams), 1);
  link.update(kIdle, 0_s);
  Packet open({}), slow({.rtt_ns = 20'000'000, .rate = 1000});
  EXPECT_EQ(arrive(link, open, 80), 0U);
  EXPECT_EQ(arrive(link, slow, 1000), 0U);
  EXPECT_FLOAT_EQ(static_cast<float>(open.rate()), 0.05F * 12.5e6F);
  EXPECT_EQ(slow.rate(), 1000);
}

TEST(RcpLink, OneUpdateIsTheLaw) {
  Link link(ParamValues(kLinkParams), 2);
  EXPECT_EQ(link.update(kIdle, 1_s), 1_s + 10_ms);  // T = min(100 ms, 10 ms)
  // 40 kB in 10 ms, on two lcores: y = 4e6. Round trips of 100 ms, so d stays.
  for (unsigned i = 0; i < 40; ++i) {
    Packet p({.rtt_ns = 100'000'000});
    arrive(link, p, 1000, i % 2, i % 10 != 0);  // dropped packets count as arrivals
  }
  LinkState busy = kIdle;
  busy.queue = 50e3;
  link.update(busy, 1_s + 10_ms);
  const double spare = 0.1 * (12.5e6 - 4e6) - 50e3 / 0.1;
  EXPECT_NEAR(rate_of(link), 0.05 * 12.5e6 * (1 + 0.1 * spare / 12.5e6), 1e-3);
}

TEST(RcpLink, AverageRttFollowsLongerOnesByTheIntervalAndShorterOnesWithCare) {
  const auto average = [](uint32_t rtt_ns) {
    Link link(ParamValues(kLinkParams), 1);
    link.update(kIdle, 0_s);
    for (const uint32_t rtt : {100'000'000U, rtt_ns}) {
      Packet p({.rtt_ns = rtt});
      arrive(link, p, 1000);
      link.update(kIdle, rtt == rtt_ns ? 20_ms : 10_ms);
    }
    return gauge(link, "average_rtt_ms");
  };
  EXPECT_NEAR(average(200'000'000), 100 + 0.1 * 100, 1e-6);
  EXPECT_NEAR(average(50'000'000), 100 - 0.1 * 0.05 * 0.5 * 50, 0.01);
}

TEST(RcpLink, TheFirstRoundTripReplacesTheGuess) {
  for (const uint32_t rtt_ns : {1'000'000U, 600'000'000U}) {
    Link link(ParamValues(kLinkParams), 1);
    link.update(kIdle, 0_s);
    Packet p({.rtt_ns = rtt_ns});
    arrive(link, p, 1000);
    link.update(kIdle, 10_ms);
    EXPECT_NEAR(gauge(link, "average_rtt_ms"), rtt_ns * 1e-6, 1e-6);
  }
}

// With N flows at R each, y = N R and no queue: R settles at C/N.
TEST(RcpLink, FlowsComeToShareTheLinkEvenly) {
  for (const double flows : {1.0, 4.0, 50.0}) {
    Link link(ParamValues(kLinkParams), 1);
    Nanos now{0};
    double queue = 0;
    link.update(kIdle, now);
    for (int i = 0; i < 20'000; ++i) {
      const auto bytes = static_cast<uint32_t>(flows * rate_of(link) * 0.01);
      Packet p({.rtt_ns = 100'000'000});
      arrive(link, p, bytes);
      queue = std::max(0.0, queue + bytes - 12.5e6 * 0.01);
      now += 10_ms;
      link.update({.capacity = 12.5e6, .queue = queue, .buffer = 1e6}, now);
    }
    EXPECT_NEAR(rate_of(link) * flows / 12.5e6, 1, 1e-3) << flows;
  }
}

TEST(RcpLink, RateStaysWithinItsBounds) {
  Link link(ParamValues(kLinkParams), 1);
  Nanos now{0};
  for (int i = 0; i < 5000; ++i) link.update(kIdle, now += 10_ms);
  EXPECT_EQ(rate_of(link), 12.5e6);
  const LinkState flooded{.capacity = 12.5e6, .queue = 1e9, .buffer = 1e9};
  for (int i = 0; i < 5000; ++i) link.update(flooded, now += 10_ms);
  EXPECT_NEAR(rate_of(link), 0.01 * 1000 / 0.1, 1e-6);
}

TEST(RcpLink, RefusesRatesThatNobodyMeans) {
  Link link(ParamValues(kLinkParams), 1);
  for (const float rate : {std::nanf(""), -1.0F, 0.0F, std::numeric_limits<float>::infinity()}) {
    Packet p({.rtt_ns = 20'000'000, .rate = rate});
    EXPECT_EQ(arrive(link, p, 1000), 1U);
  }
}

TEST(RcpFlow, SendsAtTheRateThatCameBackAndIgnoresNonsense) {
  FlowUnderTest<Flow> flow;
  std::array<uint8_t, kHeaderSize> header{};
  PacketNote note;
  FlowState s;
  s.rtt = 30_ms;
  flow.write_syn(s, 80, header.data(), note);
  EXPECT_EQ(load(header.data()).rtt_ns, 0U);
  EXPECT_EQ(load(header.data()).rate, std::numeric_limits<float>::max());
  store({.rate = 2e6F}, header.data());
  EXPECT_TRUE(flow.on_syn_ack(s, note, header.data()));
  EXPECT_EQ(flow.rate_bps(), 16e6);
  store({.rate = std::nanf("")}, header.data());
  EXPECT_FALSE(flow.on_ack(s, note, header.data()));
  EXPECT_EQ(flow.rate_bps(), 16e6);
  flow.write_data(s, 1500, header.data(), note);
  EXPECT_EQ(load(header.data()).rtt_ns, 30'000'000U);
}

}  // namespace
}  // namespace turnpike::rcp
