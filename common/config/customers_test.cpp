// SPDX-License-Identifier: BSD-3-Clause
// Customers in the topology file and in a file of their own, and the routers that enforce budgets.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "common/config/address.h"
#include "common/config/marked_file.h"
#include "common/protocols/link_law.h"
#include "common/units/instrumented.h"

namespace turnpike::config {
namespace {

const std::string kTwo = R"(groups: {gold: {weight: 2}}
customers:
  acme: {prefix: [10.1.0.0/16, "fd01::/32"], budget: 2 $/s, group: gold}
  beta: {link: left, budget: 500e-3 $/s}
)";

TEST(Customers, ArePrefixesOrLinksWithABudget) {
  const Topology t = expect_right(changed("", kTwo));
  ASSERT_EQ(t.customers.size(), 2U);
  EXPECT_EQ(t.customers[0].name, "acme");
  EXPECT_EQ(t.customers[0].budget.count(), 2);
  EXPECT_EQ(t.customers[0].group, 0U);
  EXPECT_TRUE(t.customers[0].links.empty());
  EXPECT_EQ(t.customers[1].links, std::vector<size_t>{0});
  EXPECT_EQ(t.customers[1].budget.count(), 0.5);
  EXPECT_EQ(t.groups[0].weight, 2);
  ASSERT_EQ(t.ipv4_customers.size(), 1U);
  EXPECT_EQ(prefix_text(t.ipv4_customers[0].prefix), "10.1.0.0/16");
  ASSERT_EQ(t.ipv6_customers.size(), 1U);
  EXPECT_EQ(t.ipv6_customers[0].customer, 0U);
  EXPECT_FALSE(t.routers[0].enforcement);
}

TEST(Customers, ReportMistakes) {
  const auto customers = [](const std::string& text) {
    return changed("", "groups: {gold: }\ncustomers:\n" + text);
  };
  expect_mistakes(customers("  ^a: {budget: 1 $/s}\n"), {"either 'prefix' or 'link' or 'vlan'"});
  expect_mistakes(customers("  ^a: {budget: 1 $/s, prefix: 10.1.0.0/16, link: left}\n"),
                  {"either 'prefix' or 'link' or 'vlan'"});
  expect_mistakes(customers("  a: {budget: 1 $/s, prefix: ^10.1.2.0/16}\n"), {"10.1.0.0/16"});
  expect_mistakes(customers("  a: {budget: 1 $/s, prefix: [10.1.0.0/16, ^10.1.0.0/16]}\n"),
                  {"customers.a.prefix[1]: 10.1.0.0/16 is already a prefix of customer 'a'"});
  expect_mistakes(customers("  a: {budget: 1 $/s, link: ^lfet}\n"), {"did you mean 'left'"});
  expect_mistakes(customers("  a: {budget: 1 $/s, link: left, group: ^glod}\n"),
                  {"there is no group 'glod'"});
  expect_mistakes(
      customers("  a: {budget: 1 $/s, link: left}\n  b: {budget: 1 $/s, link: ^left}\n"),
      {"already that of customer 'a'"});
  expect_mistakes(customers("  ^a: {link: left}\n"), {"missing key 'budget'"});
}

TEST(Customers, HaveAsManyGroupsAsALinkTells) {
  std::string text = "groups:\n";
  for (unsigned i = 0; i < kMaxGroups; ++i) text.append("  g" + std::to_string(i) + ":\n");
  if (!kInstrumented) {
    EXPECT_EQ(expect_right(changed("", text)).groups.size(), kMaxGroups);
  }
  expect_mistakes(changed("", text + "  ^more:\n"), {"more than 65535 groups"});
}

TEST(Enforcement, IsOnTheLinksOfHostsUnlessTheFileNamesOthers) {
  const auto with = [](const std::string& enforce) {
    return changed("{lcores: [0, 1]}", "{lcores: [0, 1], enforce: " + enforce + "}");
  };
  const Topology t = expect_right(with("{}"));
  ASSERT_TRUE(t.routers[0].enforcement);
  EXPECT_EQ(t.routers[0].enforcement->links, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(t.routers[0].enforcement->burst, 50_ms);
  EXPECT_EQ(t.routers[0].enforcement->promise_burst, 150_ms);
  // Sources are validated, and links add their prices.
  EXPECT_EQ(t.links[0].directions[0].source_check, SourceCheck::kStrict);
  EXPECT_TRUE(t.routers[0].enforcement->charge_unpriced);
  const Topology one = expect_right(with("{links: right, burst: 1 s}"));
  EXPECT_EQ(one.routers[0].enforcement->links, (std::vector<size_t>{1}));
  EXPECT_EQ(one.routers[0].enforcement->burst, 1_s);
  expect_mistakes(with("{links: [left, ^rihgt]}"), {"did you mean 'right'"});
}

TEST(SourceCheck, IsAPropertyOfADirection) {
  EXPECT_EQ(expect_right(std::string(kRightFile)).links[0].directions[0].source_check,
            SourceCheck::kOff);
  const Topology t = expect_right(changed(
      "rate: 1 Gbps", "rate: 1 Gbps, source_check: strict, reverse: {source_check: loose}"));
  EXPECT_EQ(t.links[0].directions[0].source_check, SourceCheck::kStrict);
  EXPECT_EQ(t.links[0].directions[1].source_check, SourceCheck::kLoose);
}

class CustomerTable : public ::testing::Test {
 protected:
  std::string with(const std::string& text, bool wrong) {
    std::ofstream(path_) << text;
    return changed("", kTwo + "customer_table: " + (wrong ? "^" : "") + path_ + "\n");
  }
  void TearDown() override { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "/turnpike-customers-" + std::to_string(getpid());
};

TEST_F(CustomerTable, FollowsTheCustomersOfTheTopologyFile) {
  const Topology t =
      expect_right(with("# comment\n\n10.2.0.0/24 3$/s gold\nfd02::/48\t1$/s\n", false));
  ASSERT_EQ(t.customers.size(), 4U);
  EXPECT_EQ(t.customers_in_table, 2U);
  EXPECT_EQ(t.customers[2].name, "10.2.0.0/24");
  EXPECT_EQ(t.customers[2].budget.count(), 3);
  EXPECT_EQ(t.customers[2].group, 0U);
  EXPECT_EQ(t.ipv4_customers[1].customer, 2U);
  EXPECT_EQ(t.ipv6_customers[1].customer, 3U);
}

TEST_F(CustomerTable, HoldsAMillion) {
  constexpr uint32_t kCustomers = kInstrumented ? 50'000 : 1'000'000;
  std::string text;
  for (uint32_t i = 0; i < kCustomers; ++i)
    text.append(prefix_text(Ipv4Prefix{0x20000000 + (i << 8), 24})).append(" 1$/s\n");
  EXPECT_EQ(expect_right(with(text, false)).customers_in_table, kCustomers);
}

TEST_F(CustomerTable, SaysWhereItIsWrong) {
  const auto mistake = [this](const std::string& table) {
    const Loaded loaded = load_text(with(table, false), "file.yaml");
    EXPECT_EQ(loaded.error().size(), 1U);
    return loaded.error()[0].text();
  };
  const std::string at = path() + ":", key = ": customer_table: ";
  EXPECT_EQ(mistake("10.2.0.0/24\n"),
            at + "1:1" + key + "expected a prefix, a budget and possibly a group");
  EXPECT_EQ(mistake("10.2.0.0/24 1$/s gold now\n"),
            at + "1:23" + key + "expected a prefix, a budget and possibly a group");
  EXPECT_EQ(mistake("\n10.2.0.1/24 1$/s\n"),
            at + "2:1" + key + "'10.2.0.1/24' is no prefix, or bits beyond its length are set");
  EXPECT_EQ(mistake("10.2.0.0/24 1$/s tin\n"), at + "1:18" + key + "there is no group 'tin'");
  EXPECT_NE(mistake("10.2.0.0/24 -1$/s\n").find("1:13" + key + "'-1$/s' is not between"),
            std::string::npos);
  EXPECT_NE(mistake("10.2.0.0/24 1\n").find("1:13" + key), std::string::npos);
  expect_mistakes(with("10.1.0.0/16 1$/s\n", true), {"the same prefix"});
  expect_mistakes(changed("", "customer_table: ^/no/such\n"), {"cannot be read"});
}

}  // namespace
}  // namespace turnpike::config
