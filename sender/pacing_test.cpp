// SPDX-License-Identifier: BSD-3-Clause
// Tests send times of packets: exact to the nanosecond on a virtual clock, and without bursts.
#include <algorithm>
#include <utility>

#include "common/protocols/random.h"
#include "common/units/instrumented.h"
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {
namespace {

std::vector<Nanos> departures(double bps, Nanos end, const std::function<void(Nanos)>& at = {}) {
  FixedLaw::reset(bps);
  config::Topology t = two_hosts();
  t.flows = {finite(config::kEndless)};
  std::vector<Nanos> sent;
  World w(t, {.tap = [&](size_t from, auto& frame, Nanos now) {
            if (from == 0 && (frame[42] & 15) == 3) sent.push_back(now);
            if (at) at(now);
            return true;
          }});
  w.run(end);
  return sent;
}

TEST(Pacing, IsExactAndDoesNotDrift) {
  for (const double bps : {12e6, 7.7e6, 33.333e6, 99.9e6}) {
    const auto sent = departures(bps, kInstrumented ? 2_s : 20_s);
    ASSERT_GT(sent.size(), 1000U);
    const double gap = 1500 * 8 / bps * 1e9;
    for (size_t i = 0; i < sent.size(); ++i) {
      const double ideal = 20e6 + gap * static_cast<double>(i);
      ASSERT_NEAR(static_cast<double>(sent[i].count()), ideal, 2) << "packet " << i;
    }
  }
}

TEST(Pacing, NoFasterThanTheLine) {
  const auto sent = departures(1e12, 1_s);  // the line rate is 100 Mbit/s: 120 us per packet
  for (size_t i = 1; i < sent.size(); ++i) ASSERT_EQ(sent[i] - sent[i - 1], 120_us);
}

TEST(Pacing, AtLeastAPacketARoundTrip) {
  const auto sent = departures(1, 1_s);
  ASSERT_EQ(sent.size(), 50U);
  for (size_t i = 1; i < sent.size(); ++i) ASSERT_EQ(sent[i] - sent[i - 1], 20_ms);
}

TEST(Pacing, FollowsTheRateAsAFluidWould) {
  // 1.2 Mbit/s for half a second; ten times that from the next ACK on.
  const auto sent = departures(1.2e6, 1_s, [](Nanos now) {
    if (now >= 500_ms) FixedLaw::rate_bps = 12e6;
  });
  double before = 0, after = 0;
  for (const Nanos t : sent) (t < 500_ms ? before : after) += 1;
  EXPECT_NEAR(before, 48, 1);   // a packet per 10 ms from 20 ms on
  EXPECT_NEAR(after, 490, 12);  // the ACK comes up to one packet interval later
  for (size_t i = 1; i < sent.size(); ++i) ASSERT_GE(sent[i] - sent[i - 1], Nanos(999'999));
}

TEST(Pacing, ALatePollCatchesUpWithinBounds) {
  FixedLaw::reset(12e6);
  config::Topology t = two_hosts();
  t.flows = {finite(config::kEndless)};
  World w(t, {});
  w.run(1_s);
  const uint64_t before = w.totals(0).sent_packets.read();
  const uint64_t offered = w.totals(0).offered_bytes.read();
  // The sender is not polled for 100 ms. It catches up for a quarter of a (late) RTT, and counts
  // all of the time in offered_bytes.
  for (int i = 0; i < 20; ++i) w.sender(0).poll(w.now() + 100_ms);
  EXPECT_GE(w.totals(0).sent_packets.read() - before, 5U);
  EXPECT_LE(w.totals(0).sent_packets.read() - before, 30U);
  EXPECT_NEAR(static_cast<double>(w.totals(0).offered_bytes.read() - offered), 100 * 1500,
              2 * 1500);
}

// --- Pacer --------------------------------------------------------------------------------------

/// Of a flow that spends its whole budget.
void reprice(Pacer& p, double before, double after, Nanos now) {
  p.reprice(before, after, 1000, 1, now);
}

TEST(Pacer, ScalesWhatIsLeftOfAGap) {
  Pacer p;
  p.resume(1_s);
  p.set_rate(1e6, 1_s);
  p.sent(1000);  // 1 ms
  EXPECT_EQ(p.due(), 1_s + 1_ms);
  p.set_rate(2e6, 1_s + 500_us);  // half of the gap is left and becomes half as long
  EXPECT_EQ(p.due(), 1_s + 750_us);
  p.set_rate(0.5e6, 1_s + 700_us);
  EXPECT_EQ(p.due(), 1_s + 900_us);
  p.set_rate(1e6, 2_s);  // due already: no change
  EXPECT_EQ(p.due(), 1_s + 900_us);
}

TEST(Pacer, SavesMoneyNotBytesWhereThePriceRisesSteeply) {
  Pacer p;
  p.resume(1_s);
  p.set_rate(1e6, 1_s);
  p.sent(1000);  // 1 ms
  reprice(p, 1, 1.9, 1_s + 800_us);
  EXPECT_EQ(p.due(), 1_s + 1_ms);
  reprice(p, 1, 4, 1_s + 800_us);  // 0.8 of a packet at the old price is 0.2 at the new one
  EXPECT_EQ(p.due(), 1_s + 1600_us);
  p.set_rate(0.25e6, 1_s + 800_us);
  EXPECT_EQ(p.due(), 1_s + 4_ms);
  reprice(p, 4, 1, 1_s + 900_us);  // a lower price changes nothing
  EXPECT_EQ(p.due(), 1_s + 4_ms);
}

TEST(Pacer, AheadOfThePaceByOneSlotAtMost) {
  Pacer p;
  p.resume(1_s);
  p.set_rate(1e6, 1_s);
  uint64_t sent = 0;
  for (Nanos now = 1_s; now < 2_s; now += 10_us)
    for (; p.due_ahead(1500) <= now; sent += 200) {
      p.sent(200);
      EXPECT_LE(static_cast<double>(sent + 200), to_seconds(now - 1_s) * 1e6 + 1500 + 2 * 200);
    }
  EXPECT_GE(sent, 1'000'000U);
}

TEST(Pacer, TinyRatesDoNotOverflow) {
  Pacer p;
  p.set_rate(1e-300, 0_s);
  p.sent(1500);
  EXPECT_EQ(p.due(), 3600_s);
  p.set_rate(1e9, 1_s);
  EXPECT_GE(p.due(), 1_s);
  EXPECT_LE(p.due(), 2_s);
  p.set_rate(1e-300, 1_s);
  EXPECT_LE(p.due(), 1_s + 3600_s);
}

TEST(Pacer, ComesBackFromARateOfNothing) {
  Pacer p;
  p.resume(1_s);
  p.set_rate(1e6, 1_s);
  p.sent(1000);
  p.set_rate(0, 1_s);
  EXPECT_GT(p.due(), 1000_s);
  p.set_rate(1e6, 2_s);
  EXPECT_LE(p.due(), 2_s + 1_ms);
}

/// A link that is idle asks for next to nothing, and the flow is bound by its rate.
TEST(Pacer, PaysItsDebtsWhereThePriceCollapses) {
  Pacer p;
  p.resume(1_s);
  p.set_rate(1e6, 1_s);
  p.sent(1000);
  reprice(p, 1e-7, 1.9e-7, 1_s + 1_ms);  // owes half a packet
  p.resume(1_s + 1_ms);
  p.sent(1000);
  p.reprice(1.9e-7, 1e-18, 1000, 12e6 * 1e-18 / 0.1, 1_s + 1_ms);  // of 0.1 $/s
  p.set_rate(12e6, 1_s + 1_ms);
  EXPECT_LE(p.due(), 1_s + 3_ms);
}

TEST(Pacer, KeepsFractionsOfANanosecond) {
  Pacer p;
  p.set_rate(7e9 / 3, 0_s);
  for (int i = 0; i < 7'000'000; ++i) p.sent(100);
  EXPECT_NEAR(static_cast<double>(p.due().count()), 300e6, 100);
}

TEST(Pacer, ForgivesWhatIsTooLongAgo) {
  Pacer p;
  p.set_rate(1e6, 0_s);
  EXPECT_EQ(p.forgive(10_ms, 100_ms), 0_ms);
  EXPECT_EQ(p.forgive(100_ms, 100_ms), 75_ms);  // a quarter of the RTT remains to catch up
  EXPECT_EQ(p.due(), 75_ms);
  EXPECT_EQ(p.forgive(100_ms, 0_ms), 24_ms);  // at least 1 ms remains
}

constexpr double kBudget = 1;  // $/s
constexpr uint32_t kSize = 1000;

/// The greatest debt of an edge router's bucket right before a packet, in costs of a packet at the
/// highest price, where a flow spends its whole budget at prices that change about three times
/// within each gap.
double greatest_debt(uint64_t seed, bool reprices) {
  SplitMix64 random(seed);
  Pacer pacer;
  double price = 1e-6, debt = 0, greatest = 0, highest = price;  // 1 ms for a packet
  Nanos at{0};
  pacer.set_rate(kBudget / price, Nanos(0));
  for (Nanos change{0}; change < 20_s;) {
    change += Nanos(static_cast<int64_t>(random.next() % 600'000));
    for (; pacer.due() <= change; pacer.sent(kSize)) {
      debt = std::max(debt - kBudget * to_seconds(pacer.due() - at), 0.0);
      at = pacer.due();
      greatest = std::max(greatest, debt);
      debt += price * kSize;
    }
    const double before =
        std::exchange(price, std::clamp(price * (0.7 + 0.8 * random.uniform()), 0.2e-6, 2e-6));
    highest = std::max(highest, price);
    if (reprices) pacer.reprice(before, price, kSize, 1, change);
    pacer.set_rate(kBudget / price, change);
  }
  return greatest / (highest * kSize);
}

TEST(Pacer, StaysWithinWhatAnEdgeAllows) {
  double without = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_LE(greatest_debt(seed, true), 2) << seed;
    without = std::max(without, greatest_debt(seed, false));
  }
  EXPECT_GT(without, 4) << "prices that vary do not matter here";
}

TEST(Pacer, WaitsForWhatItOwesBeyondAPacket) {
  Pacer p;
  p.resume(1_s);
  p.set_rate(1e6, 1_s);
  p.sent(1000);                  // 1 ms
  reprice(p, 1, 2, 1_s + 1_ms);  // owes half a packet
  EXPECT_EQ(p.due(), 1_s + 1_ms);
  reprice(p, 2, 1, 1_s + 1_ms);  // and no longer
  reprice(p, 1, 2, 1_s + 1_ms);
  reprice(p, 2, 4, 1_s + 1_ms);  // a quarter and a half
  EXPECT_EQ(p.due(), 1_s + 1_ms);
  reprice(p, 4, 8, 1_s + 1_ms);   // 0.375 and a half
  reprice(p, 8, 20, 1_s + 1_ms);  // 0.35 and 0.6
  EXPECT_EQ(p.due(), 1_s + 1_ms);
  reprice(p, 20, 40, 1_s + 1_ms);
  reprice(p, 40, 100, 1_s + 1_ms);  // 0.9875 x 0.4 and 0.6
  EXPECT_EQ(p.due(), 1_s + 1_ms);
  p.resume(1_s + 1500_us);  // half a millisecond pays for half a packet
  reprice(p, 1, 2.9, 1_s + 1500_us);
  EXPECT_EQ(p.due(), 1_s + 1500_us);
}

}  // namespace
}  // namespace turnpike::sender::testing
