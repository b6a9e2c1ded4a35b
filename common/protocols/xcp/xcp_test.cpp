// SPDX-License-Identifier: BSD-3-Clause
// The controllers by hand, the residues, and a link filled by many flows.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/xcp/flow.h"
#include "common/protocols/xcp/link.h"
#include "tests/support/flow_under_test.h"

namespace turnpike::xcp {
namespace {

constexpr LinkState kIdle{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};  // 100 Mbit/s

/// A flow of packets of 1000 B.
Header with_window(uint32_t rtt_ns, double window) {
  return {.rtt_ns = rtt_ns, .flow = static_cast<float>(rtt_ns * 1e-9 * 1000 / window)};
}

struct Packet {
  std::array<uint8_t, kHeaderSize> bytes{};
  explicit Packet(const Header& h) { store(h, bytes.data()); }
  [[nodiscard]] double feedback() const { return load(bytes.data()).feedback; }
};

/// Passes one packet through the link. Returns the change of its window.
double pass(Link& link, const Header& h, double size, const LinkState& state = kIdle,
            unsigned shard = 0) {
  Packet p(h);
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), static_cast<uint32_t>(size)}}};
  EXPECT_EQ(link.arrive(shard, burst, state, 1_s), 0U);
  link.depart(shard, burst, state, 1_s);
  return p.feedback() * h.rtt_ns * 1e-9;
}

TEST(XcpLink, AnIntervalIsTheEquations) {
  Link link(ParamValues(kLinkParams), 1);
  EXPECT_EQ(link.update(kIdle, 1_s), 1_s + 100_ms);
  // 100 packets of 1000 B in the interval of 0.1 s, round trip 0.1 s, window 20 kB.
  const Header h = with_window(100'000'000, 20e3);
  for (int i = 0; i < 100; ++i) pass(link, h, 1000);
  link.update(kIdle, 1_s + 100_ms);
  const double phi = 0.4 * (1.25e6 - 100e3);  // eq 1; |phi| > gamma y d: nothing is shuffled
  const double xi = phi / (0.1 * 100 * 0.1 * 1000 / 20e3);                // eq 6
  EXPECT_NEAR(pass(link, h, 1000) / (xi * 0.01 * 1000 / 20e3), 1, 1e-6);  // eq 4
}

TEST(XcpLink, AQueueTakesWindowAwayInProportionToThroughput) {
  Link link(ParamValues(kLinkParams), 1);
  LinkState full = kIdle;
  full.queue = 500e3;
  link.update(full, 1_s);
  const Header h = with_window(100'000'000, 20e3);
  for (int i = 0; i < 1250; ++i) pass(link, h, 1000, full);  // C exactly
  pass(link, {}, 0, kIdle);                                  // the queue was empty once
  link.update(full, 1_s + 100_ms);
  EXPECT_NEAR(pass(link, h, 1000, full), 0, 20) << "no queue that persists, only shuffling";

  for (int i = 0; i < 1250; ++i) pass(link, h, 1000, full);
  link.update(full, 1_s + 200_ms);
  const double phi = -0.226 * 500e3, shuffled = 0.1 * 1.25e6 - 0.226 * 500e3;
  const double xi_up = shuffled / (0.1 * 1250 * 0.1 * 1000 / 20e3);
  const double xi_down = (shuffled - phi) / (0.1 * 1.25e6);  // eq 9
  const double expected = xi_up * 0.01 * 1000 / 20e3 - xi_down * 0.1 * 1000;
  EXPECT_NEAR(pass(link, h, 1000, full) / expected, 1, 5e-3);  // one packet more than C
}

TEST(XcpLink, TheQueueIsWatchedForARoundTripWithoutIt) {
  Link link(ParamValues(kLinkParams), 1);
  LinkState full = kIdle;
  full.queue = 500e3;                              // 40 ms at C
  EXPECT_EQ(link.update(full, 1_s), 1_s + 60_ms);  // first_rtt is 100 ms
  const Header h = with_window(100'000'000, 20e3);
  for (int i = 0; i < 1250; ++i) pass(link, h, 1000, full);
  EXPECT_EQ(link.update(full, 1_s + 60_ms), 1_s + 100_ms) << "the interval ends next";
  // Arrivals after the watch meet an empty queue, which does not count in the interval.
  pass(link, h, 1000, kIdle);
  link.update(full, 1_s + 100_ms);
  EXPECT_LT(pass(link, h, 1000, full), 0) << "500 kB persist";
}

TEST(XcpLink, NoMoreIsHandedOutThanThereIs) {
  Link link(ParamValues(kLinkParams), 1);
  link.update(kIdle, 1_s);
  const Header h = with_window(100'000'000, 20e3);
  for (int i = 0; i < 100; ++i) pass(link, h, 1000);
  link.update(kIdle, 1_s + 100_ms);
  double handed_out = 0;
  for (int i = 0; i < 500; ++i) handed_out += pass(link, h, 1000);
  const double phi = 0.4 * (1.25e6 - 100e3);
  EXPECT_NEAR(handed_out / phi, 1, 0.02);  // five times as many packets as expected
}

TEST(XcpLink, WhatALinkBeforeGivesLessIsLeftForOthers) {
  Link link(ParamValues(kLinkParams), 1);
  link.update(kIdle, 1_s);
  const Header h = with_window(100'000'000, 20e3);
  Header held = h;
  held.feedback = 10;  // B/s
  for (int i = 0; i < 100; ++i) pass(link, h, 1000);
  link.update(kIdle, 1_s + 100_ms);
  for (int i = 0; i < 500; ++i) EXPECT_NEAR(pass(link, held, 1000), 1, 1e-9);
  EXPECT_GT(pass(link, h, 1000), 4000) << "they took 1 B each";
}

// Two equal flows; an upstream link holds one of them at its present rate. Of phi each would get
// half. The share that the held flow cannot take pays for decreases, so the free flow gets its
// increases without decreases before the interval ends. Under the printed rule it never does.
TEST(XcpLink, WhatAHeldFlowCannotTakeSparesOthersDecreases) {
  const auto free_flow_gets = [](Residues rule) {
    ParamValues params(kLinkParams);
    params[kResidues] = static_cast<double>(rule);
    Link link(params, 1);
    link.update(kIdle, 1_s);
    const Header h = with_window(100'000'000, 600e3);
    Header held = h;
    held.feedback = 0;
    for (int i = 0; i < 1200; ++i) pass(link, h, 1000);  // 96 % of C
    link.update(kIdle, 1_s + 100_ms);
    double sum = 0;
    for (int i = 0; i < 600; ++i) {
      pass(link, held, 1000);
      sum += pass(link, h, 1000);
    }
    return sum;
  };
  // Equations 1 and 2: phi is 20 kB, 100 kB are shuffled. Each packet of the held flow takes
  // up/1200 from the decreases and each of the free flow down/1200: they last for 2 down/(up +
  // down) of the interval, in the rest of which the free flow gets up/2 per interval.
  const double phi = 0.4 * 50e3, down = 0.1 * 1.2e6 - phi, up = down + phi;
  const double lasts = 2 * down / (up + down);
  EXPECT_NEAR(free_flow_gets(Residues::kNet), (up - lasts * down) / 2, 150);
  EXPECT_NEAR(free_flow_gets(Residues::kPrinted), phi / 2, 150);
}

TEST(XcpLink, IntervalIsTheAverageOverFlows) {
  Link link(ParamValues(kLinkParams), 1);
  link.update(kIdle, 1_s);
  // Two flows of equal throughput w/rtt, 20 and 100 ms: packets alike, flows weigh rtt s/cwnd
  // alike.
  for (int i = 0; i < 100; ++i) {
    pass(link, with_window(20'000'000, 10e3), 1000);
    pass(link, with_window(100'000'000, 50e3), 1000);
  }
  EXPECT_NEAR(to_seconds(link.update(kIdle, 1_s + 100_ms) - 1_s) - 0.1, 0.06, 1e-6);
}

TEST(XcpLink, RefusesNonsense) {
  Link link(ParamValues(kLinkParams), 1);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const Header& h : {Header{1, nan, 0}, Header{1, inf, 0}, Header{1, 0, 0}, Header{1, -1, 0},
                          Header{1, 1, nan}, Header{0, 0, inf}, Header{1, 5e6F, 0}}) {
    Packet p(h);
    std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000}}};
    EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 1U);
  }
}

// Flows as fluid: each sends its window per round trip and gets as much feedback.
TEST(XcpLink, FlowsComeToShareTheLinkEvenlyWhateverTheyBeganWith) {
  for (const unsigned shards : {1U, 2U}) {
    Link link(ParamValues(kLinkParams), shards);
    std::vector<double> windows{1e3, 5e3, 200e3, 700e3};
    constexpr Nanos kRtt = 50_ms;
    double queue = 0;
    Nanos now{0};
    link.update(kIdle, now);
    for (int round = 0; round < 400; ++round) {
      double sent = 0;
      const LinkState state{.capacity = 12.5e6, .queue = queue, .buffer = 1e7};
      std::vector<double> change(windows.size());
      for (size_t f = 0; f < windows.size(); ++f) {
        for (double left = windows[f]; left > 1; left -= 1000) {
          const double size = std::min(left, 1000.0);
          Header h = with_window(50'000'000, windows[f]);
          h.flow *= static_cast<float>(size / 1000);
          change[f] += pass(link, h, size, state, f % shards);
        }
        sent += windows[f];
      }
      for (size_t f = 0; f < windows.size(); ++f)
        windows[f] = std::max(windows[f] + change[f], 1000.0);
      queue = std::max(0.0, queue + sent - 12.5e6 * 0.05);
      now += kRtt;
      link.update(state, now);
    }
    for (const double w : windows) EXPECT_NEAR(w / (12.5e6 * 0.05 / 4), 1, 0.05) << shards;
  }
}

TEST(XcpFlow, WindowMovesByWhatItIsToldAndLossesHalveItOnceARoundTrip) {
  FlowUnderTest<Flow> flow((ParamValues(kFlowParams)));
  std::array<uint8_t, kHeaderSize> header{};
  FlowState s;
  s.rtt = s.smoothed_rtt = 50_ms;
  s.packet_size = 1500;
  EXPECT_TRUE(flow.on_syn_ack(s, {}, header.data()));
  EXPECT_EQ(flow.window(), 1500);
  store({.rtt_ns = 50'000'000, .flow = 1, .feedback = 98'500 / 0.05F}, header.data());
  EXPECT_TRUE(flow.on_ack(s, {}, header.data()));
  EXPECT_EQ(flow.window(), 100e3);
  flow.on_loss(s, {});
  flow.on_loss(s, {});
  EXPECT_EQ(flow.window(), 50e3);
  s.now = 60_ms;
  flow.on_loss(s, {});
  EXPECT_EQ(flow.window(), 25e3);
  store({.rtt_ns = 50'000'000, .flow = 1, .feedback = -1e9F}, header.data());
  EXPECT_TRUE(flow.on_ack(s, {}, header.data()));
  EXPECT_EQ(flow.window(), 1500);
  store({.rtt_ns = 50'000'000, .flow = 1, .feedback = std::nanf("")}, header.data());
  EXPECT_FALSE(flow.on_ack(s, {}, header.data()));
  store({.rtt_ns = 50'000'000, .flow = 1}, header.data());  // no link lowered it
  EXPECT_FALSE(flow.on_ack(s, {}, header.data()));
}

TEST(XcpFlow, MisbehavesWhereItIsToldTo) {
  ParamValues params(kFlowParams);
  params[kDeaf] = 1;
  params[kClaimedRtt] = 3;
  FlowUnderTest<Flow> flow(params);
  std::array<uint8_t, kHeaderSize> header{};
  FlowState s;
  s.rtt = s.smoothed_rtt = 50_ms;
  s.packet_size = 1500;
  PacketNote note;
  flow.on_syn_ack(s, note, header.data());
  flow.write_data(s, 1500, header.data(), note);
  EXPECT_EQ(load(header.data()).rtt_ns, 150'000'000);
  store({.rtt_ns = 50'000'000, .flow = 1, .feedback = 120e3}, header.data());
  flow.on_ack(s, note, header.data());
  store({.rtt_ns = 50'000'000, .flow = 1, .feedback = -120e3}, header.data());
  flow.on_ack(s, note, header.data());
  EXPECT_EQ(flow.window(), 7500);
}

// Section 3.1: the packets of a window ask together for the rate that the application can use.
TEST(XcpFlow, AsksForTheRateThatItCanUse) {
  FlowUnderTest<Flow> flow((ParamValues(kFlowParams)));
  std::array<uint8_t, kHeaderSize> header{};
  FlowState s;
  s.rtt = s.smoothed_rtt = 50_ms;
  s.packet_size = 1500;
  PacketNote note;
  flow.on_syn_ack(s, note, header.data());
  const auto request_of = [&] {
    flow.write_data(s, 1500, header.data(), note);
    return load(header.data()).feedback;
  };
  EXPECT_EQ(request_of(), Header{}.feedback) << "it can use any";
  store({.rtt_ns = 50'000'000, .flow = 1, .feedback = 13'500 / 0.05F}, header.data());
  flow.on_ack(s, note, header.data());
  ASSERT_EQ(flow.window(), 15'000) << "ten packets, 300 kB/s";
  s.limit = 500e3;
  EXPECT_FLOAT_EQ(request_of(), 20e3) << "a tenth of what is missing";
  s.limit = 100e3;
  EXPECT_FLOAT_EQ(request_of(), -20e3) << "it gives back what it cannot use";
  for (int i = 0; i < 200; ++i) {
    request_of();
    EXPECT_TRUE(flow.on_ack(s, note, header.data()));
  }
  EXPECT_NEAR(flow.window(), 5000, 1) << "its rate times the round trip";
}

TEST(XcpFlow, IsAsManyFlowsAsItsPrice) {
  ParamValues params(kFlowParams);
  params[kPrice] = 5;
  FlowUnderTest<Flow> flow(params);
  std::array<uint8_t, kHeaderSize> header{};
  FlowState s;
  s.rtt = s.smoothed_rtt = 50_ms;
  s.packet_size = 1500;
  PacketNote note;
  flow.on_syn_ack(s, note, header.data());
  flow.write_data(s, 1500, header.data(), note);
  EXPECT_FLOAT_EQ(load(header.data()).flow, 0.25) << "a window of one packet";
}

}  // namespace
}  // namespace turnpike::xcp
