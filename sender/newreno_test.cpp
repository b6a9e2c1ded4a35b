// SPDX-License-Identifier: BSD-3-Clause
// Tests recovery without SACK: one lost packet per round trip, sent again at once (RFC 6582).
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/protocols/tcp/params.h"
#include "common/wire/bytes.h"
#include "common/wire/layers.h"
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {
namespace {

constexpr Nanos kRtt = 20_ms;

/// A TCP flow whose first window, 16 packets, loses some of them once, and some of their ACKs.
struct Recovery {
  Recovery(bool sack, const std::set<uint32_t>& lost, const std::set<uint32_t>& lost_acks = {}) {
    config::Topology t = two_hosts();
    t.flows = {finite(40'000)};
    t.flows[0].protocol = "tcp";
    t.flows[0].params = ParamValues(tcp::kFlowParams);
    t.flows[0].params[tcp::kFirstWindow] = 16;
    t.flows[0].params[tcp::kSack] = sack ? 1 : 0;
    std::set<uint32_t> left = lost, acks_left = lost_acks;
    std::map<uint32_t, Nanos> seen;
    const auto tap = [&](size_t from, const std::vector<uint8_t>& frame, Nanos now) {
      wire::UdpFrame at;
      EXPECT_EQ(wire::locate_udp(frame, at), wire::FrameError::kNone);
      const auto kind = static_cast<wire::Kind>(frame[at.payload] & 0x0f);
      const uint32_t sequence = wire::load_be32(&frame[at.payload + 8]);
      if (kind == wire::Kind::kAck) return acks_left.erase(sequence) == 0;
      if (from != 0 || kind != wire::Kind::kData) return true;
      if (const auto [first, fresh] = seen.try_emplace(sequence, now); !fresh) {
        again.push_back(now);
        waits.push_back(now - first->second);
      }
      return left.erase(sequence) == 0;
    };
    World w(t, {.tap = tap}, find_protocol);
    w.run(30_s);
    completed = w.outcomes().size() == 1 && w.outcomes()[0].completed;
    timeouts = w.totals(0).timeouts.read();
    w.expect_clean();
  }

  /// Round trips from the first retransmission to the last.
  [[nodiscard]] double round_trips() const {
    return to_seconds(again.back() - again.front()) / to_seconds(kRtt);
  }

  std::vector<Nanos> again;  // times of retransmissions
  std::vector<Nanos> waits;  // since the packet was sent first
  bool completed = false;
  uint64_t timeouts = 0;
};

TEST(NewReno, FindsOneLostPacketPerRoundTrip) {
  const Recovery with(true, {3, 5, 7, 9}), without(false, {3, 5, 7, 9});
  for (const Recovery* r : {&with, &without}) {
    EXPECT_TRUE(r->completed);
    EXPECT_EQ(r->again.size(), 4U);
    EXPECT_EQ(r->timeouts, 0U);
  }
  EXPECT_LT(with.round_trips(), 1);
  EXPECT_NEAR(without.round_trips(), 3, 0.5);
}

// RFC 8985 section 6.2 step 4: without reordering three later packets show the loss, and with fewer
// it takes a quarter of the round trip more.
TEST(NewReno, ThreeLaterPacketsShowALoss) {
  for (const bool sack : {true, false}) {
    const Recovery three(sack, {3}), two(sack, {12, 13});
    ASSERT_EQ(three.waits.size(), 1U);
    EXPECT_LT(three.waits[0], kRtt + kRtt / 8);
    ASSERT_EQ(two.waits.size(), 2U);
    EXPECT_GE(two.waits[0], kRtt + kRtt / 4);
    EXPECT_EQ(three.timeouts + two.timeouts, 0U);
  }
}

// Ten packets that it does not know of are more in flight than the halved window of eight.
TEST(NewReno, DoesNotWaitForTheWindow) {
  const Recovery r(false, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_TRUE(r.completed);
  EXPECT_EQ(r.timeouts, 0U);
  EXPECT_EQ(r.again.size(), 10U);
  EXPECT_NEAR(r.round_trips(), 9, 0.5);
}

// The next ACK is out of turn, and covers the packet whose ACK is lost.
TEST(NewReno, LostAcksCostNoRetransmission) {
  for (const bool sack : {true, false}) {
    const Recovery r(sack, {3, 5}, {6, 7, 12, 15});
    EXPECT_TRUE(r.completed);
    EXPECT_EQ(r.timeouts, 0U);
    EXPECT_EQ(r.again.size(), 2U) << (sack ? "with SACK" : "without");
  }
}

}  // namespace
}  // namespace turnpike::sender::testing
