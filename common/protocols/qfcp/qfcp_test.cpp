// SPDX-License-Identifier: BSD-3-Clause
// Equations 2 to 4 by hand, and the paper's example of flows that cannot use their share.
#include <array>

#include <gtest/gtest.h>

#include "common/protocols/explicit_rate/header.h"
#include "common/protocols/qfcp/flow.h"
#include "common/protocols/qfcp/link.h"
#include "tests/support/flow_under_test.h"

namespace turnpike::qfcp {
namespace {

using explicit_rate::Header, explicit_rate::kHeaderSize;

constexpr LinkState kIdle{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};  // 100 Mbit/s

void arrive(Link& link, double bytes, uint32_t rtt_ns, bool admitted = true) {
  std::array<uint8_t, kHeaderSize> header{};
  explicit_rate::store({.rtt_ns = rtt_ns}, header.data());
  std::array<LinkPacket, 1> burst{{{header.data(), static_cast<uint32_t>(bytes), false, admitted}}};
  EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0U);
}

double rate_of(const Link& link) {
  std::array<Gauge, 2> g;
  link.gauges(g);
  return g[0].value / 8e-6;
}

TEST(QfcpLink, OneUpdateIsTheLaw) {
  Link link(ParamValues(kLinkParams), 1);
  EXPECT_EQ(link.update(kIdle, 1_s), 1_s + 100_ms);
  EXPECT_EQ(rate_of(link), 12.5e6) << "an idle link is all the newcomer's";
  // 2.5 MB in 100 ms, as two flows at C would send; 50 kB of it dropped.
  arrive(link, 2.45e6, 100'000'000);
  arrive(link, 0.05e6, 100'000'000, false);
  LinkState busy = kIdle;
  busy.queue = 100e3;
  link.update(busy, 1_s + 100_ms);
  const double shared = (12.5e6 - 0.5 * 150e3 / 0.1) / 2;
  EXPECT_NEAR(rate_of(link), (shared + 12.5e6) / 2, 1);
}

TEST(QfcpLink, PeriodFollowsTheAverageRoundTrip) {
  Link link(ParamValues(kLinkParams), 1);
  Nanos now = link.update(kIdle, 0_s);
  for (int i = 0; i < 200; ++i) {
    arrive(link, 1000, 40'000'000);
    now = link.update(kIdle, now);
  }
  EXPECT_NEAR(to_seconds(link.update(kIdle, now) - now), 0.04, 1e-6);
}

// Figure 4 of the paper: 50 Mbit/s, two flows limited to 10 elsewhere, one that is not. It
// converges to 30, and the number of flows to 5/3.
TEST(QfcpLink, WhatOthersCannotUseIsGivenToThoseWhoCan) {
  constexpr LinkState kFifty{.capacity = 6.25e6, .queue = 0, .buffer = 1e6};
  Link link(ParamValues(kLinkParams), 1);
  Nanos now = link.update(kFifty, 0_s);
  for (int i = 0; i < 300; ++i) {
    const double limited = std::min(rate_of(link), 1.25e6);
    const double length = to_seconds(link.update(kFifty, now) - now);
    arrive(link, (2 * limited + rate_of(link)) * length, 100'000'000);
    now += from_seconds(length);
  }
  EXPECT_NEAR(rate_of(link) * 8e-6, 30, 0.05);
}

TEST(QfcpLink, ALongQueueLeavesAFloor) {
  Link link(ParamValues(kLinkParams), 1);
  Nanos now = link.update(kIdle, 0_s);
  const LinkState flooded{.capacity = 12.5e6, .queue = 1e9, .buffer = 1e9};
  for (int i = 0; i < 100; ++i) now = link.update(flooded, now);
  EXPECT_NEAR(rate_of(link) / (0.05 * 12.5e6), 1, 1e-3);
}

TEST(QfcpFlow, WindowIsTheRateTimesTheAverageRoundTrip) {
  FlowUnderTest<Flow> flow;
  std::array<uint8_t, kHeaderSize> header{};
  explicit_rate::store({.rate = 1e6F}, header.data());
  FlowState s;
  s.rtt = 50_ms;
  s.smoothed_rtt = 40_ms;
  s.packet_size = 1500;
  EXPECT_TRUE(flow.on_syn_ack(s, {}, header.data()));
  EXPECT_EQ(flow.window(), 40'000);
  s.smoothed_rtt = 1_us;
  flow.on_loss(s, {});
  EXPECT_EQ(flow.window(), 1500);
}

}  // namespace
}  // namespace turnpike::qfcp
