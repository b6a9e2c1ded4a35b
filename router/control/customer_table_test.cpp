// SPDX-License-Identifier: BSD-3-Clause
// Customers by source address, against a linear search, and by link.
#include "router/control/customer_table.h"

#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "common/protocols/fcp/params.h"
#include "tests/support/eal.h"
#include "tests/support/router_topology.h"

namespace turnpike::router {
namespace {

class CustomerTableTest : public ::testing::Test {
 protected:
  CustomerTableTest() { testing::test_pool(); }  // starts EAL

  uint32_t add(std::optional<size_t> link = {}) {
    world.customers.push_back({.name = "c", .budget = Budget(1)});
    if (link) world.customers.back().links = {*link};
    return static_cast<uint32_t>(world.customers.size() - 1);
  }
  void build() {
    auto built = CustomerTable::build(world, 0, -1);
    ASSERT_TRUE(built) << built.error();
    table = std::move(*built);
  }
  template <class Address>
  uint64_t find(const Address& a) {
    uint64_t found = 77;
    table->find(std::span<const Address>(&a, 1), &found);
    return found;
  }

  config::Topology world = test::topology();
  std::unique_ptr<const CustomerTable> table;
};

TEST_F(CustomerTableTest, FindsTheLongestPrefix) {
  std::mt19937 random(1);
  // Few distinct high bits, so that prefixes contain each other.
  const auto address = [&] { return 0x0a000000 | (random() & 0x0003070f); };
  std::vector<config::CustomerPrefix<config::Ipv4Prefix>>& all = world.ipv4_customers;
  for (int i = 0; i < 200; ++i) {
    const config::Ipv4Prefix p = config::network(config::Ipv4Prefix{
        static_cast<uint32_t>(address()), static_cast<uint8_t>(8 + random() % 25)});
    const bool known = std::ranges::any_of(all, [&](const auto& o) {
      return o.prefix.address == p.address && o.prefix.length == p.length;
    });
    if (!known) all.push_back({p, add()});
  }
  build();
  for (int i = 0; i < 2000; ++i) {
    const auto a = static_cast<uint32_t>(address());
    uint64_t expected = 0;
    int longest = -1;
    for (const auto& [p, customer] : all)
      if (config::contains(p, a) && p.length > longest) {
        longest = p.length;
        expected = customer + 1;
      }
    EXPECT_EQ(find(a), expected) << config::ipv4_text(a);
  }
  EXPECT_EQ(find(*config::parse_ipv4("11.0.0.1")), 0U);
}

TEST_F(CustomerTableTest, FindsIpv6AndLinks) {
  world.ipv6_customers.push_back({*config::parse_ipv6_prefix("fd77::/32"), add()});
  add(size_t{test::kNarrow});
  build();
  EXPECT_EQ(table->size(), 2U);
  EXPECT_EQ(find(*config::parse_ipv6("fd77:0:1::2")), 1U);
  EXPECT_EQ(find(*config::parse_ipv6("fd78::2")), 0U);
  EXPECT_EQ(find(*config::parse_ipv4("10.0.0.1")), 0U) << "no IPv4 customers at all";
  EXPECT_EQ(table->of_link(test::kNarrow), 2U);
  EXPECT_EQ(table->of_link(test::kLeft), 0U);
}

TEST_F(CustomerTableTest, KnowsGroups) {
  world.groups = {{"a", 1}, {"b", 2}};
  add(), add(), add();
  world.customers[0].group = 1;
  world.customers[2].group = 0;
  build();
  EXPECT_EQ(std::vector<uint16_t>(table->groups(), table->groups() + 4),
            (std::vector<uint16_t>{0, 2, 0, 1}));
}

TEST_F(CustomerTableTest, IsNeededForBudgetsAndForLinksThatGroupsShare) {
  const auto needed = [this] { return CustomerTable::needed(world, world.routers[0]); };
  EXPECT_FALSE(needed());
  EXPECT_EQ(CustomerTable::memory(world, world.routers[0]), 0U);
  config::Link& link = world.links[test::kRight];
  const size_t out = link.end_at(world.routers[0].name);
  link.directions[1 - out].law = link.directions[out].law;
  link.directions[1 - out].law.params[fcp::kGroups] = 1;
  EXPECT_FALSE(needed()) << "the other end's";
  link.directions[out].law.params[fcp::kGroups] = 1;
  EXPECT_TRUE(needed());
  link.directions[out].law.params[fcp::kGroups] = 0;
  world.routers[0].enforcement.emplace();
  EXPECT_TRUE(needed());
}

}  // namespace
}  // namespace turnpike::router
