// SPDX-License-Identifier: BSD-3-Clause
// Exchange rates and audits on paths of a toy network.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"
#include "tests/support/fcp_network.h"

namespace turnpike::fcp::money_test {
namespace {

using testing::ToyNetwork;

// Rates are measured between these times.
constexpr Nanos kSettled = kInstrumented ? 1_s : 3_s, kEnd = kInstrumented ? 1500_ms : 4_s;

// A currency of which a unit is worth `rate` of the link's: budgets and prices scale, rates stay.
TEST(Exchange, RatesDependOnTheValueOfBudgetsAlone) {
  std::array<double, 2> plain{}, foreign{};
  for (const bool exchanged : {false, true}) {
    ToyNetwork net({.preset = "turnpike"});
    const size_t first = net.add_link(100_Mbps, 5_ms), second = net.add_link(80_Mbps, 5_ms);
    // A power of two: bfloat16 holds it exactly.
    const float rate = exchanged ? 0x1p-10F : 1;
    const size_t a = net.add_flow({first, second}, 10_ms, Budget(1), 0_s);
    const size_t b = net.add_flow({second}, 15_ms, Budget(3 / double{rate}), 0_s);
    net.set_exchange(b, rate);
    net.run_until(kSettled);
    (void)net.delivered_rate(a), (void)net.delivered_rate(b);
    net.run_until(kEnd);
    auto& rates = exchanged ? foreign : plain;
    rates = {net.delivered_rate(a).count(), net.delivered_rate(b).count()};
  }
  EXPECT_NEAR(plain[1] / plain[0], 3, 0.1);
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(foreign[i], plain[i], 0.01 * plain[i]);
}

// A SYN's bound of the first round's rate is no money: no exchange rate changes it.
TEST(Exchange, FirstRoundsAreAsFastInEveryCurrency) {
  Nanos plain = 0_s;
  for (const float rate : {1.0F, 0x1p-20F, 0x1p20F}) {
    ToyNetwork net({.preset = "turnpike"});
    const size_t first = net.add_link(100_Mbps, 5_ms), second = net.add_link(80_Mbps, 5_ms);
    const size_t i = net.add_flow({first, second}, 10_ms, Budget(1 / double{rate}), 0_s, 30e3);
    net.set_exchange(i, rate);
    net.run_until(2_s);
    if (rate == 1) plain = net.completion(i);
    EXPECT_LT(plain, 70_ms) << "three round trips and the link's time";
    EXPECT_EQ(net.completion(i), plain) << rate;
  }
}

// Two domains of equal weight meet at a border; one prints money. Beyond the border all links use
// the domain's currency.
TEST(Exchange, PrintingMoneyGainsNothingAtABorder) {
  for (const double inflation : {1.0, 10.0, 1e6}) {
    if (kInstrumented && inflation != 1e6) continue;
    ToyNetwork net({.preset = "turnpike"});
    net.set_link_param(kGroups, static_cast<double>(Groups::kDomain));
    const std::array weights{1.0, 1.0, 1.0};
    const size_t border = net.add_link(1_Gbps, 1_ms);
    net.set_groups(border, weights);
    net.set_link_param(kGroups, static_cast<double>(Groups::kOff));
    const size_t inside = net.add_link(100_Mbps, 9_ms);
    const size_t a = net.add_flow({border, inside}, 10_ms, Budget(1), 0_s);
    const size_t b = net.add_flow({border, inside}, 10_ms, Budget(inflation), 0_s);
    net.set_group(a, 1);
    net.set_group(b, 2);
    net.run_until(kSettled);
    (void)net.delivered_rate(a), (void)net.delivered_rate(b);
    net.run_until(kEnd);
    const double first = net.delivered_rate(a).count(), second = net.delivered_rate(b).count();
    EXPECT_NEAR(second / first, 1, 0.02) << inflation;
    EXPECT_GT(first + second, 96e6) << inflation;
  }
}

// Every link charges what the sender pays for: at the end of the path both sums agree, but for the
// charge being the lowest price around the time of payment.
TEST(Audit, HonestFlowsPayWhatTheyAreCharged) {
  using Case = std::tuple<std::string_view, Audit, double>;
  for (const auto& [preset, audit, least] :
       {Case("turnpike", Audit::kOn, 0.97), Case("paper", Audit::kOn, 0.97),
        Case("turnpike", Audit::kExact, 0.98), Case("paper", Audit::kExact, 0.98)}) {
    if (kInstrumented && (preset == "turnpike") != (audit == Audit::kOn)) continue;
    ToyNetwork net({.preset = preset});
    net.set_link_param(kAudit, static_cast<double>(audit));
    const size_t first = net.add_link(60_Mbps, 5_ms), second = net.add_link(100_Mbps, 5_ms);
    double paid = 0, charged = 0, short_of = 0;
    net.on_arrival = [&](size_t, const Header& h) {
      if (net.now() < 500_ms) return;
      paid += double{h.balance};
      charged += double{h.charged};
      short_of += std::max(0.0, double{h.charged} - 1.05 * double{h.balance});
    };
    net.add_flow({first, second}, 10_ms, Budget(1), 0_s);
    net.add_flow({second}, 15_ms, Budget(2), 0_s);
    net.add_flow({first}, 25_ms, Budget(1), 0_s);
    for (int i = 0; i < 20; ++i)
      net.add_flow({first, second}, 10_ms, Budget(0.1), from_seconds(1 + 0.1 * i), 50e3);
    net.run_until(kInstrumented ? 1500_ms : 4_s);
    EXPECT_LE(charged, paid * 1.002) << preset;
    EXPECT_GE(charged, paid * least) << preset;
    EXPECT_LT(short_of, 0.02 * paid) << preset;
  }
}

// The value of a group's money falls while its flows join; they pay by its value of a round trip
// ago.
TEST(Audit, HonestFlowsOfAGroupOweNothingWhileOthersJoin) {
  ToyNetwork net({.preset = "turnpike"});
  net.set_link_param(kAudit, 1);
  net.set_link_param(kGroups, static_cast<double>(Groups::kLink));
  const size_t link = net.add_link(100_Mbps, 10_ms);
  const std::array weights{1.0, 1.0, 1.0};
  net.set_groups(link, weights);
  double charged = 0, owed = 0;
  size_t packets = 0, over = 0;
  net.on_arrival = [&](size_t flow, const Header& h) {
    if (flow == 0) return;
    charged += double{h.charged};
    owed += double{h.charged} - double{h.balance};
    ++packets;
    over += h.charged > 1.01F * h.balance;
  };
  net.set_group(net.add_flow({link}, 10_ms, Budget(1), 0_s), 1);
  for (int i = 0; i < 7; ++i)
    net.set_group(net.add_flow({link}, Nanos(int64_t{15'000'000}), Budget(1), 1_s + 1_ms * i), 2);
  net.run_until(3_s);
  EXPECT_GT(charged, 0);
  EXPECT_LT(owed, 0);
  EXPECT_EQ(over, 0U) << packets;
}

}  // namespace
}  // namespace turnpike::fcp::money_test
