// SPDX-License-Identifier: BSD-3-Clause
// Accounts and counters of customers go on by name when customers, budgets and limits change.
#include <gtest/gtest.h>

#include "common/config/load.h"
#include "router/datapath/enforcement/enforcement.h"
#include "router/reload/succession.h"
#include "tests/support/eal.h"

namespace turnpike::router {
namespace {

constexpr const char* kCustomers = R"(
hosts: { a: { budget: 1 $/s }, b: }
routers: { r: { enforce: {} } }
links: { la: { ends: [a, r], rate: 1 Gbps }, lb: { ends: [r, b], rate: 1 Gbps } }
groups: { gold: { weight: 2 }, rest: }
customers:
  acme: { prefix: 10.7.0.0/16, budget: 1 $/s, group: gold }
  beta: { prefix: 10.8.0.0/16, budget: 2 $/s }
)";

config::Topology customers(const std::vector<config::Setting>& settings = {}) {
  auto t = config::load_text(kCustomers, "test.yaml", settings);
  if (!t) ADD_FAILURE() << t.error().front().text();
  return t ? std::move(*t) : config::Topology{};
}

/// The enforcement of `wanted`, gone on from one of `running` in which acme (1) has debts and beta
/// (2) drops.
struct GoneOn {
  GoneOn(const config::Topology& running, const config::Topology& wanted)
      : before(*Enforcement::make(running, 0, 2, -1)) {
    before->account(0, 1).debt[0] = 0.03F;
    before->account(1, 1).debt[2] = 0.5F;
    before->count(1, 2, Refusal::kSpending, 700);
    succession = succession_of(running, wanted, 0, 0, *before);
    after = *Enforcement::make_successor(wanted, 0, 2, -1, succession);
    add_changed_budgets(*before, *after, succession);
    table = &before->customers();
    after->go_on_from(*before, succession);
  }
  std::unique_ptr<Enforcement> before, after;
  Enforcement::Succession succession;
  const CustomerTable* table = nullptr;
};

TEST(CustomersGoOn, WithAnotherBudget) {
  GoneOn g(customers(), customers({{"customers.acme.budget", "4 $/s"}}));
  EXPECT_TRUE(g.succession.same);
  EXPECT_EQ(g.succession.changed, std::vector<uint32_t>{1});
  EXPECT_EQ(&g.after->customers(), g.table) << "the table of prefixes is not built again";
  EXPECT_FLOAT_EQ(g.after->account(0, 1).owed(Bucket::kPaid), 0.03F);
  EXPECT_FLOAT_EQ(g.after->account(1, 1).owed(Bucket::kOpenings), 0.5F);
  EXPECT_NEAR(g.after->account(0, 1).per_dollar, 1 / 4.0 / 1.005, 1e-6);
  EXPECT_NEAR(g.after->account(1, 2).per_dollar, 1 / 2.0 / 1.005, 1e-6);
  ASSERT_EQ(g.after->drops().size(), 1U);
  EXPECT_EQ(g.after->drops()[0].sum(), 1U);
}

TEST(CustomersGoOn, WithOthersBeforeThem) {
  const config::Topology wanted =
      customers({{"customers",
                  "{ new: { prefix: 10.1.0.0/16, budget: 1 $/s }, beta: { prefix: 10.8.0.0/16, "
                  "budget: 2 $/s }, acme: { prefix: 10.7.0.0/16, budget: 1 $/s } }"}});
  GoneOn g(customers(), wanted);
  EXPECT_FALSE(g.succession.same);
  EXPECT_EQ(g.succession.from, (std::vector<uint32_t>{0, 0, 2, 1}));
  EXPECT_FLOAT_EQ(g.after->account(0, 3).owed(Bucket::kPaid), 0.03F);
  EXPECT_FLOAT_EQ(g.after->account(1, 3).owed(Bucket::kOpenings), 0.5F);
  EXPECT_FLOAT_EQ(g.after->account(0, 1).owed(Bucket::kPaid), 0);
  ASSERT_EQ(g.after->drops().size(), 1U);
  EXPECT_EQ(g.after->drops()[0].customer, 2U);
  EXPECT_EQ(g.after->drops()[0].bytes, 700U);
}

TEST(CustomersGoOn, OneThatEndsLeavesItsCountToTheCaller) {
  const config::Topology wanted =
      customers({{"customers", "{ acme: { prefix: 10.7.0.0/16, budget: 1 $/s } }"}});
  GoneOn g(customers(), wanted);
  EXPECT_EQ(g.succession.to, (std::vector<uint32_t>{0, 1, 0}));
  EXPECT_TRUE(g.after->drops().empty());
  std::array<uint64_t, kRefusals> packets{};
  uint64_t bytes = 0;
  g.before->add_drops(2, packets, bytes);
  EXPECT_EQ(packets[0], 1U);
  EXPECT_EQ(bytes, 700U);
}

TEST(CustomersGoOn, WithAnotherBurst) {
  const config::Topology running = customers();
  auto before = *Enforcement::make(running, 0, 2, -1);
  before->withdraw(0, 1, Bucket::kPaid, 0.010F);
  const config::Topology wanted = customers({{"routers.r.enforce.burst", "200 ms"}});
  const auto s = succession_of(running, wanted, 0, 0, *before);
  auto after = *Enforcement::make_successor(wanted, 0, 2, -1, s);
  after->go_on_from(*before, s);
  EXPECT_NEAR(after->account(1, 1).owed(Bucket::kPaid), 0.010F, 1e-6)
      << "withdrawals of the other lcore are settled in the old unit";
  // Until the next reading, what is withdrawn now counts in the new unit.
  for (int i = 0; i < 100; ++i) after->withdraw(0, 1, Bucket::kPaid, 0.001F);
  for (int i = 0; i < 100; ++i) after->withdraw(1, 1, Bucket::kPaid, 0.001F);
  EXPECT_NEAR(after->account(1, 1).owed(Bucket::kPaid), 0.210F, 0.01F);
}

TEST(CustomersGoOn, GroupsByName) {
  EXPECT_TRUE(groups_from(customers(), customers({{"groups.gold.weight", "9"}})).empty());
  EXPECT_EQ(groups_from(customers(), customers({{"groups", "{ rest: , more: , gold: }"}})),
            (std::vector<uint16_t>{0, 2, kNewGroup, 1}));
}

}  // namespace
}  // namespace turnpike::router
