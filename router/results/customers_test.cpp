// SPDX-License-Identifier: BSD-3-Clause
// Customers with drops in results and in the log.
#include "router/results/customers.h"

#include <gtest/gtest.h>

namespace turnpike::router {
namespace {

CustomerSnapshot customer(const std::string& name, uint64_t spending, uint64_t unpriced = 0) {
  CustomerSnapshot c{.name = name, .budget = Budget(2)};
  c.packets[static_cast<size_t>(Refusal::kSpending)] = spending;
  c.packets[static_cast<size_t>(Refusal::kUnpriced)] = unpriced;
  c.bytes = 1500 * (spending + unpriced);
  return c;
}

TEST(Customers, AreListedByTheirDrops) {
  const std::vector all{customer("few", 1), customer("many", 10, 5)};
  const auto json = customers_json(all);
  EXPECT_EQ(json.begin().key(), "many");
  EXPECT_EQ(json["many"]["dropped"], 15);
  EXPECT_EQ(json["many"]["dropped_bytes"], 22500);
  EXPECT_EQ(json["many"]["budget"], 2);
  EXPECT_EQ(json["many"]["reasons"]["unpriced"], 5);
  EXPECT_EQ(json["few"]["reasons"]["commitment"], 0);
  EXPECT_EQ(customers_text(all),
            "  customer many (2 $/s): 15 packets over budget (spending 10, unpriced 5)\n"
            "  customer few (2 $/s): 1 packets over budget (spending 1)\n");
  std::vector<CustomerSnapshot> crowd;
  for (size_t i = 0; i < kMaxListed + 7; ++i) crowd.push_back(customer(std::to_string(i), 1 + i));
  EXPECT_EQ(customers_json(crowd).size(), kMaxListed);
  EXPECT_NE(customers_text(crowd).find("and 7 more customers"), std::string::npos);
}

TEST(CustomerLog, LimitsItsLines) {
  CustomerLog log;
  std::vector<CustomerSnapshot> all{customer("a", 1)};
  EXPECT_EQ(log.lines(all, {}, 1_s).size(), 1U);
  EXPECT_TRUE(log.lines(all, {}, 20_s).empty()) << "no new drop";
  all[0] = customer("a", 2);
  EXPECT_EQ(log.lines(all, {}, 21_s).size(), 1U);
  all[0] = customer("a", 3);
  EXPECT_TRUE(log.lines(all, {}, 22_s).empty()) << "named a moment ago";
  EXPECT_EQ(log.lines(all, {}, 32_s).size(), 1U);
  for (int i = 0; i < 8; ++i) all.push_back(customer("b" + std::to_string(i), 1));
  const auto first = log.lines(all, {}, 33_s);
  ASSERT_EQ(first.size(), CustomerLog::kMaxLines);
  EXPECT_NE(first.back().find("and 3 more"), std::string::npos);
  EXPECT_EQ(log.lines(all, {}, 34_s).size(), 3U) << "those left out";
}

TEST(Offenders, AreListedByLinkAndNamedInTheLog) {
  const std::vector<OffenderSnapshot> all{
      {.link = "last", .source = "10.0.1.2", .owed = 0.9, .offences = 2, .dropped = 70}};
  EXPECT_EQ(offenders_json(all)["last"]["10.0.1.2"]["dropped"], 70);
  const std::string line =
      "sender 10.0.1.2 at link last: 70 packets unpaid (2 offences, owed 90 % of its charges)";
  EXPECT_EQ(offenders_text(all), "  " + line + "\n");
  CustomerLog log;
  EXPECT_EQ(log.lines({}, all, 1_s), std::vector{line});
  EXPECT_TRUE(log.lines({}, all, 20_s).empty()) << "no new drop";
}

}  // namespace
}  // namespace turnpike::router
