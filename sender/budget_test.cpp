// SPDX-License-Identifier: BSD-3-Clause
// Tests that a host's commitment stays within its budget for any prices and flows.
#include "common/units/instrumented.h"
#include "tests/support/sender_price.h"

namespace turnpike::sender::testing {
namespace {

/// A world that stamps the price `price_at(now)` on FCP's data packets.
struct Priced {
  Priced(config::Topology t, const std::function<double(Nanos)>& price_at, double loss = 0)
      : world(std::move(t), {.loss = loss, .tap = price_tap(price_at)}, find_protocol) {
    world.after_poll = [this] {
      const Ledger& ledger = world.source().ledger();
      double sum = 0, scale = ledger.budget();
      world.sender(0).lcore().flows.for_each([&](Flow& f) {
        sum += f.allowance.committed;
        scale = std::max(scale, std::abs(f.allowance.committed));
      });
      ASSERT_NEAR(ledger.committed(), sum, 1e-9 * scale);
      ASSERT_LE(ledger.committed(), ledger.budget() * (1 + slack)) << world.now().count();
      most = std::max(most, ledger.committed());
    };
  }
  World world;
  double slack = 1e-6;  // preloads are binary32 in packets
  double most = 0;
};

config::Topology crowd(unsigned flows) {
  config::Topology t = two_hosts(Budget(2));
  for (unsigned i = 0; i < flows; ++i) {
    config::Flow f = finite(config::kEndless, 100_ms * static_cast<int64_t>(i));
    f.share = 1 + i % 3;
    if (i % 4 == 3) f.stop = 2_s + f.start;
    t.flows.push_back(f);
  }
  return t;
}

constexpr double kFair = 2 / 6.25e6;  // $/B at which 2 $/s buy 50 Mbit/s

TEST(Budget, AloneAFlowGetsAllOfIt) {
  config::Topology t = two_hosts(Budget(2));
  t.flows = {finite(config::kEndless)};
  Priced p(t, [](Nanos) { return kFair; });
  p.world.run(2_s);
  EXPECT_NEAR(p.world.source().ledger().committed(), 2, 0.01);
  const uint64_t before = p.world.totals(0).sent_bytes.read();
  const double spent = p.world.totals(0).spend.load();
  p.world.run(3_s);
  const double seconds = 1;
  EXPECT_NEAR(static_cast<double>(p.world.totals(0).sent_bytes.read() - before), 6.25e6 * seconds,
              0.01 * 6.25e6);
  EXPECT_NEAR(p.world.totals(0).spend.load() - spent, 2 * seconds, 0.02);
}

TEST(Budget, IsNeverExceeded) {
  Priced p(crowd(20), [](Nanos) { return kFair; });
  p.world.run(6_s);
  EXPECT_GT(p.most, 1.98);
}

constexpr Nanos kJumping = kInstrumented ? 1200_ms : 6_s;

std::function<double(Nanos)> jumps() {
  return [random = std::mt19937_64(9)](Nanos) mutable {
    return kFair * std::pow(10.0, static_cast<double>(random() % 7) - 3);
  };
}

TEST(Budget, IsNeverExceededWhilePricesJump) {
  Priced p(crowd(12), jumps());
  p.world.run(kJumping);
  EXPECT_GT(p.most, 0.5);
}

TEST(Budget, IsKeptToAFiftiethUnderLoss) {
  // A packet that returns budget may be lost after another flow has received that budget. The sum
  // exceeds the budget by it until the sender detects the loss and sends the next packet.
  Priced p(crowd(12), jumps(), 0.05);
  p.slack = 0.02;
  p.world.run(kJumping);
  EXPECT_GT(p.most, 0.5);
}

TEST(Budget, IsSharedByWeight) {
  config::Topology t = two_hosts(Budget(2));
  for (const double share : {1.0, 3.0}) {
    config::Flow f = finite(config::kEndless);
    f.share = share;
    t.flows.push_back(f);
  }
  Priced p(t, [](Nanos) { return kFair; });
  p.world.run(4_s);
  std::vector<double> committed;
  p.world.sender(0).lcore().flows.for_each(
      [&](Flow& f) { committed.push_back(f.allowance.committed); });
  ASSERT_EQ(committed.size(), 2U);
  EXPECT_NEAR(committed[0], 0.5, 0.01);
  EXPECT_NEAR(committed[1], 1.5, 0.02);
}

TEST(Budget, ComesBackWhenAFlowStops) {
  config::Topology t = two_hosts(Budget(2));
  t.flows = {finite(config::kEndless), finite(config::kEndless)};
  t.flows[1].stop = 2_s;
  Priced p(t, [](Nanos) { return kFair; });
  p.world.run(4_s);
  ASSERT_EQ(p.world.outcomes().size(), 1U);
  EXPECT_TRUE(p.world.outcomes()[0].completed);
  EXPECT_LT(p.world.outcomes()[0].end, 2_s + 100_ms);
  EXPECT_NEAR(p.world.source().ledger().committed(), 2, 0.02);
}

}  // namespace
}  // namespace turnpike::sender::testing
