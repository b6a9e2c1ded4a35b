// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/balance_audit.h"

#include <cmath>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"

namespace turnpike::router::balance_audit_test {
namespace {

BalanceAudit::Address host(unsigned i) {
  BalanceAudit::Address a{};
  a[10] = a[11] = 0xff;
  a[12] = 10;
  a[14] = static_cast<uint8_t>(i >> 8);
  a[15] = static_cast<uint8_t>(i);
  return a;
}

/// Fills in the sums of bytes.
void add_up(ChargeBatch& b) {
  b.charged_bytes = b.owed_bytes = 0;
  for (size_t k = 0; k < b.count; ++k) {
    if (b.charged[k] <= 0) continue;
    const auto bytes = static_cast<float>(b.sizes[k]);
    b.charged_bytes += bytes;
    b.owed_bytes += bytes * std::max(1 - b.paid[k] / b.charged[k], 0.0F);
  }
}

/// A packet of 1000 B.
void account(BalanceAudit& audit, unsigned sender, double paid, double charged, Nanos now) {
  ChargeBatch one;
  one.add(nullptr, 1000);
  one.paid[0] = static_cast<float>(paid);
  one.charged[0] = static_cast<float>(charged);
  add_up(one);
  if (audit.account(one, now) && charged > 0) audit.account(host(sender), paid, charged, now);
}

/// Senders that take turns, a packet each `pitch`: 1000 B at a price that swings.
struct Traffic {
  std::unique_ptr<BalanceAudit> audit = std::make_unique<BalanceAudit>(500_ms);
  Nanos now = 1_s, pitch = 20'000_ns;
  std::mt19937 random{1};
  uint64_t passed = 0, dropped = 0;  // of sender 0

  /// Sender 0 pays `part` of what it is charged; charges are off by up to `noise`.
  void run(Nanos span, double part, unsigned senders = 10, double noise = 0.04,
           unsigned first = 0) {
    const auto end = now + span;
    for (unsigned i = 0; now < end; ++i, now += pitch) {
      const unsigned who = first + i % senders;
      if (audit->blocks(now) && audit->blocked(host(who), now)) {
        dropped += who == first ? 1 : 0;
        continue;
      }
      passed += who == first ? 1 : 0;
      const double price = 1e-7 * std::exp(3 * std::sin(to_seconds(now) * 7));
      const double off = 1 + noise * (2 * std::generate_canonical<double, 32>(random) - 1);
      account(*audit, who, 1e3 * price * (who == first ? part : 1), 1e3 * price * off, now);
    }
  }
};

TEST(BalanceAudit, HonestSendersAreNeverBlocked) {
  Traffic t;
  if (kInstrumented) t.pitch = t.pitch * 10;
  t.run(20_s, 1);
  EXPECT_EQ(t.audit->offences(), 0U);
  t.run(20_s, 3);  // one pays more than it must
  EXPECT_EQ(t.audit->offences(), 0U);
}

TEST(BalanceAudit, BlocksOnlyTheSenderThatOwes) {
  for (const double part : {0.9, 0.5, 0.01, 0.0}) {
    Traffic t;
    t.run(1_s, part);
    ASSERT_GE(t.audit->offences(), 1U) << part;
    std::array<BalanceAudit::Offender, BalanceAudit::kMaxOffenders> v;
    ASSERT_EQ(t.audit->offenders(v), 1U) << part;
    EXPECT_EQ(v[0].source, host(0));
    EXPECT_NEAR(v[0].owed, 1 - part, 0.06);
    EXPECT_EQ(v[0].dropped, t.dropped);
  }
}

TEST(BalanceAudit, ASmallCheaterAmongManyIsFoundToo) {
  Traffic t;
  t.run(5_s, 0.5, 200);
  EXPECT_GE(t.audit->offences(), 1U);
  EXPECT_GT(t.dropped, t.passed);
}

TEST(BalanceAudit, BlocksGrowWithOffencesAndEnd) {
  Traffic t;
  constexpr int kThinned = kInstrumented ? 10 : 1;
  t.pitch = t.pitch * kThinned;
  t.run(20_s, 0.5);
  const uint64_t soon = t.passed;
  t.run(100_s, 0.5);
  EXPECT_LT(static_cast<double>(t.passed - soon), 0.05 * 100 / 20e-6 / 10 / kThinned);
  // Honest from now on: after the last block it passes again.
  t.run(70_s, 1);
  t.passed = t.dropped = 0;
  t.run(10_s, 1);
  EXPECT_EQ(t.dropped, 0U);
}

TEST(BalanceAudit, AFloodOfAddressesStaysBounded) {
  Traffic t;
  for (unsigned i = 0; i < 20000; ++i) {
    account(*t.audit, i, 0, 1e-7, t.now);
    t.now += 20'000_ns;
  }
  t.run(5_s, 0.5, 10, 0.04, 30000);
  EXPECT_GE(t.audit->offences(), 1U);
}

// One sender of a burst owes; the packets of a burst count as they would one by one.
TEST(BalanceAudit, FindsTheOneOfABurst) {
  BalanceAudit audit;
  ChargeBatch burst;
  for (unsigned i = 0; i < 7; ++i) {
    burst.add(nullptr, 1000);
    burst.charged[i] = i == 2 ? 0 : 1e-4F;
    burst.paid[i] = i == 5 ? 0.5e-4F : 1e-4F;
  }
  add_up(burst);
  for (Nanos now = 1_s; now < 3_s; now += 1_ms)
    if (audit.account(burst, now))
      for (unsigned i = 0; i < 7; ++i)
        if (burst.charged[i] > 0)
          audit.account(host(i), double{burst.paid[i]}, double{burst.charged[i]}, now);
  std::array<BalanceAudit::Offender, BalanceAudit::kMaxOffenders> v;
  ASSERT_EQ(audit.offenders(v), 1U);
  EXPECT_EQ(v[0].source, host(5));
  EXPECT_NEAR(v[0].owed, 0.5, 1e-3);
}

TEST(BalanceAudit, AnyNumbersAreHarmless) {
  std::mt19937 random(2);
  BalanceAudit audit;
  constexpr std::array kOdd{0.0, 1e-38, 1e12, 1e-7, 1e-18};
  for (int64_t t = 0; t < 100000; ++t) {
    const Nanos now(t * 100'000);
    account(audit, random() % 2000, kOdd[random() % 5], kOdd[random() % 5], now);
    if (audit.blocks(now)) (void)audit.blocked(host(random() % 2000), now);
  }
  std::array<BalanceAudit::Offender, BalanceAudit::kMaxOffenders> v;
  const size_t n = audit.offenders(v);
  for (size_t i = 0; i < n; ++i) EXPECT_TRUE(v[i].owed >= 0 && v[i].owed <= 1);
}

}  // namespace
}  // namespace turnpike::router::balance_audit_test
