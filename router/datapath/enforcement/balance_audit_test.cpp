// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/balance_audit.h"

#include <cmath>
#include <memory>
#include <random>

#include <gtest/gtest.h>

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

/// Senders that take turns, a packet each 20 us: 1000 B at a price that swings.
struct Traffic {
  std::unique_ptr<BalanceAudit> audit = std::make_unique<BalanceAudit>(500_ms);
  Nanos now = 1_s;
  std::mt19937 random{1};
  uint64_t passed = 0, dropped = 0;  // of sender 0

  /// Sender 0 pays `part` of what it is charged; charges are off by up to `noise`.
  void run(Nanos span, double part, unsigned senders = 10, double noise = 0.04,
           unsigned first = 0) {
    const auto end = now + span;
    for (unsigned i = 0; now < end; ++i, now += 20'000_ns) {
      const unsigned who = first + i % senders;
      if (audit->blocks(now) && audit->blocked(host(who), now)) {
        dropped += who == first ? 1 : 0;
        continue;
      }
      passed += who == first ? 1 : 0;
      const double price = 1e-7 * std::exp(3 * std::sin(to_seconds(now) * 7));
      const double off = 1 + noise * (2 * std::generate_canonical<double, 32>(random) - 1);
      audit->account(host(who),
                     {.paid = 1e3 * price * (who == first ? part : 1),
                      .charged = 1e3 * price * off,
                      .size = 1000},
                     now);
    }
  }
};

TEST(BalanceAudit, HonestSendersAreNeverBlocked) {
  Traffic t;
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
  t.run(20_s, 0.5);
  const uint64_t soon = t.passed;
  t.run(100_s, 0.5);
  EXPECT_LT(static_cast<double>(t.passed - soon), 0.05 * 100 / 20e-6 / 10);
  // Honest from now on: after the last block it passes again.
  t.run(70_s, 1);
  t.passed = t.dropped = 0;
  t.run(10_s, 1);
  EXPECT_EQ(t.dropped, 0U);
}

TEST(BalanceAudit, AFloodOfAddressesStaysBounded) {
  Traffic t;
  for (unsigned i = 0; i < 20000; ++i) {
    t.audit->account(host(i), {.paid = 0, .charged = 1e-7, .size = 1000}, t.now);
    t.now += 20'000_ns;
  }
  t.run(5_s, 0.5, 10, 0.04, 30000);
  EXPECT_GE(t.audit->offences(), 1U);
}

TEST(BalanceAudit, AnyNumbersAreHarmless) {
  std::mt19937 random(2);
  BalanceAudit audit;
  constexpr std::array kOdd{0.0, 1e-38, 1e12, 1e-7, 1e-18};
  for (int64_t t = 0; t < 100000; ++t) {
    const Nanos now(t * 100'000);
    audit.account(host(random() % 2000),
                  {.paid = kOdd[random() % 5], .charged = kOdd[random() % 5], .size = 1500}, now);
    if (audit.blocks(now)) (void)audit.blocked(host(random() % 2000), now);
  }
  std::array<BalanceAudit::Offender, BalanceAudit::kMaxOffenders> v;
  const size_t n = audit.offenders(v);
  for (size_t i = 0; i < n; ++i) EXPECT_TRUE(v[i].owed >= 0 && v[i].owed <= 1);
}

}  // namespace
}  // namespace turnpike::router::balance_audit_test
