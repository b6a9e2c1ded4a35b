// SPDX-License-Identifier: BSD-3-Clause
// TCP's window by hand: slow start, the sawtooth, one reduction per window, time-outs, tags.
#include "common/protocols/tcp/flow.h"

#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include <gtest/gtest.h>

#include "common/protocols/registry.h"
#include "tests/support/flow_under_test.h"

namespace turnpike::tcp {
namespace {

constexpr uint32_t kPacket = 1000;  // B
constexpr Nanos kRtt{100'000'000};

/// A sender whose packets are answered a round trip later, all of a window together.
class Sender {
 public:
  explicit Sender(const ParamValues& params = ParamValues(kFlowParams)) : flow(params) {
    std::array<uint8_t, kHeaderSize> header;
    PacketNote note;
    flow.write_syn(state(), 40, header.data(), note);
    EXPECT_EQ(load(header.data()), 0U);
    EXPECT_TRUE(flow.on_syn_ack(state(), note, header.data()));
  }

  enum class Fate { kFine, kLost, kMarked };

  void fill() {
    while ((static_cast<double>(sent.size()) + 1) * kPacket <= flow.window() + 1e-6) {
      flow.write_data(state(), kPacket, header.data(), sent.emplace_back());
    }
  }
  /// The oldest packet's fate becomes known, and the window is filled again.
  void hear(Fate fate) {
    const PacketNote note = sent.front();
    const FlowState s = state();
    sent.pop_front();
    if (fate == Fate::kLost) {
      flow.on_loss(s, note);
    } else {
      auto echo = header;
      if (fate == Fate::kMarked) store(load(echo.data()) | kMarked, echo.data());
      EXPECT_TRUE(flow.on_ack(s, note, echo.data()));
    }
    fill();
  }
  /// A round trip without loss.
  void round(Fate first = Fate::kFine, Fate second = Fate::kFine) {
    now += kRtt;
    const size_t n = sent.size();
    for (size_t i = 0; i < n; ++i) hear(i == 0 ? first : i == 1 ? second : Fate::kFine);
  }
  [[nodiscard]] double window() { return flow.window() / kPacket; }
  [[nodiscard]] FlowState state() const {
    return {.now = now,
            .rtt = kRtt,
            .smoothed_rtt = kRtt,
            .packet_size = kPacket,
            .in_flight = static_cast<double>(sent.size()) * kPacket};
  }

  FlowUnderTest<Flow> flow;
  Nanos now{1'000'000'000};
  std::array<uint8_t, kHeaderSize> header{};
  std::deque<PacketNote> sent;
};

ParamValues with(FlowParam p, double v) {
  ParamValues values(kFlowParams);
  values[p] = v;
  return values;
}

TEST(TcpFlow, SlowStartDoublesFromTwo) {
  Sender s;
  s.fill();
  for (const double window : {2, 4, 8, 16, 32, 64}) {
    EXPECT_DOUBLE_EQ(s.window(), window);
    s.round();
  }
}

TEST(TcpFlow, BeyondTheThresholdAPacketPerRoundTrip) {
  Sender s(with(kFirstThreshold, 16));
  s.fill();
  for (int i = 0; i < 3; ++i) s.round();
  EXPECT_DOUBLE_EQ(s.window(), 16);
  for (int i = 0; i < 50; ++i) {
    // n ACKs at w + 1/w each: w^2 grows by 2 n.
    const double before = s.window(), acks = static_cast<double>(s.sent.size());
    s.round();
    EXPECT_NEAR(s.window(), std::sqrt(before * before + 2 * acks), 0.04);
  }
  EXPECT_NEAR(s.window(), 66, 2);
}

TEST(TcpFlow, ASawtoothCarriesThreeEighthsOfItsPeakSquared) {
  // Between W/2 and W a packet per round: (3/8) W^2 packets per loss, so the rate is
  // sqrt(3/2)/(RTT sqrt p). Counted packet by packet, the round at the peak and the one of recovery
  // add 3/4 W and W/2.
  constexpr double kPeak = 64;
  Sender s(with(kFirstThreshold, kPeak / 2));
  s.fill();
  double packets = 0;
  int rounds = 0, teeth = 0;
  while (teeth < 12) {
    const bool lose = s.window() >= kPeak;
    if (lose && ++teeth == 2) packets = rounds = 0;
    packets += static_cast<double>(s.sent.size());
    ++rounds;
    s.round(lose ? Sender::Fate::kLost : Sender::Fate::kFine);
  }
  const double losses = teeth - 2, p = losses / packets;
  EXPECT_NEAR(packets / losses / (3.0 / 8 * kPeak * kPeak + 1.25 * kPeak), 1, 0.02);
  EXPECT_NEAR(packets / rounds / std::sqrt(1.5 / p), 1, 0.03);
}

TEST(TcpFlow, OneReductionPerWindowWhateverIsLostOfIt) {
  for (const auto fate : {Sender::Fate::kLost, Sender::Fate::kMarked}) {
    Sender s;
    s.fill();
    for (int i = 0; i < 5; ++i) s.round();
    ASSERT_DOUBLE_EQ(s.window(), 64);
    s.now += kRtt;
    for (int i = 0; i < 64; ++i) s.hear(i % 3 == 0 ? fate : Sender::Fate::kFine);
    EXPECT_DOUBLE_EQ(s.window(), 32) << "no second halving, no growth in recovery";
    s.round(fate, fate);
    EXPECT_DOUBLE_EQ(s.window(), 16) << "that was of the next window";
  }
}

TEST(TcpFlow, ATimeOutLeavesOnePacketAndHalfTheWindowAsThreshold) {
  Sender s;
  s.fill();
  for (int i = 0; i < 5; ++i) s.round();
  const PacketNote lost = s.sent.front();
  s.flow.on_timeout(s.state());
  for (size_t i = 0; i < s.sent.size(); ++i) s.flow.on_loss(s.state(), lost);
  s.sent.clear();
  EXPECT_DOUBLE_EQ(s.window(), 1);
  s.flow.on_timeout(s.state());  // the retransmission, too: nothing new is known
  s.fill();
  for (const double window : {1, 2, 4, 8, 16, 32}) {
    EXPECT_DOUBLE_EQ(s.window(), window);
    s.round();
  }
  EXPECT_NEAR(s.window(), 33, 0.1);
}

TEST(TcpFlow, NeverBelowTwoPacketsByLosses) {
  Sender s;
  s.fill();
  for (int i = 0; i < 6; ++i) s.round(Sender::Fate::kLost);
  EXPECT_DOUBLE_EQ(s.window(), 2);
}

TEST(TcpFlow, AWindowThatIsNotUsedDoesNotGrow) {
  Sender s(with(kFirstThreshold, 8));
  s.fill();
  for (int i = 0; i < 10; ++i) s.round();
  const double before = s.window();
  PacketNote note;
  for (int i = 0; i < 100; ++i) {
    s.flow.write_data(s.state(), kPacket, s.header.data(), note);
    FlowState idle = s.state();
    idle.in_flight = kPacket;
    EXPECT_TRUE(s.flow.on_ack(idle, note, s.header.data()));
  }
  EXPECT_DOUBLE_EQ(s.window(), before);
}

TEST(TcpFlow, SilenceBeginsAnew) {
  Sender s;
  s.fill();
  for (int i = 0; i < 5; ++i) s.round();
  s.flow.on_pause(s.state(), 999_ms);
  EXPECT_DOUBLE_EQ(s.window(), 64);
  s.flow.on_pause(s.state(), 1_s);
  EXPECT_DOUBLE_EQ(s.window(), 2);
}

TEST(TcpFlow, MarksOnPacketsThatMayNotBeMarkedAreNotBelieved) {
  Sender s(with(kEcn, 0));
  s.fill();
  EXPECT_EQ(load(s.header.data()), 0U);
  std::array<uint8_t, kHeaderSize> echo;
  store(kMarked, echo.data());
  EXPECT_FALSE(s.flow.on_ack(s.state(), s.sent.front(), echo.data()));
  EXPECT_DOUBLE_EQ(s.window(), 2);
}

TEST(TcpFlow, TheTransportTakesItsLeastTimeOut) {
  EXPECT_EQ(Sender().flow.opening.least_timeout, 1_s);
  EXPECT_EQ(Sender(with(kMinTimeout, 0.2)).flow.opening.least_timeout, 200_ms);
}

TEST(TcpFlow, TagsWhatIsWithinFourThirdsOfItsAllocation) {
  ParamValues params = with(kAllocation, 6e6);  // bit/s: 1e6 B/s with the excess
  params[kMeterWindow] = 0.1;
  Sender s(params);
  int in = 0;
  PacketNote note;
  for (int i = 0; i < 10'000; ++i) {
    s.now += 500_us;  // 2e6 B/s
    s.flow.write_data(s.state(), kPacket, s.header.data(), note);
    in += (load(s.header.data()) & kInProfile) != 0 ? 1 : 0;
  }
  EXPECT_NEAR(in, 5000, 150);
}

}  // namespace
}  // namespace turnpike::tcp
