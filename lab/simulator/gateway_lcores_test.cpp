// SPDX-License-Identifier: BSD-3-Clause
// Gateways whose routers have several lcores, on the virtual clock.
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/gateway_world.h"

namespace turnpike::lab {
namespace {

constexpr size_t kMany = 5;
constexpr double kAllBudgets = 1 + 1 + 2 + 3 + 4;

/// Five customers by prefix on one link, whose streams together want twice the core. The budget of
/// customer c is kBudget[c] $/s; customer `changed` has `budget` instead.
config::Topology five_customers(size_t west, size_t east, size_t changed = kMany,
                                const std::string& budget = "") {
  const std::vector<std::string> budgets{"1", "1", "2", "3", "4"};
  std::string hosts, customers, streams, links;
  const auto add = [](std::string& text, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) text += part;
  };
  for (size_t c = 0; c < kMany; ++c) {
    const std::string n = std::to_string(c);
    add(hosts, {"c", n, ": { budget: 1 $/s, addresses: [10.9.", n, ".2/24] }, "});
    add(links,
        {"  c", n, ": { ends: [c", n, ", west], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"});
    add(customers, {"  c", n, ": { prefix: 10.9.", n,
                    ".0/24, budget: ", c == changed ? budget : budgets[c], " $/s }\n"});
    add(streams, {"  c", n, ": { from: c", n,
                  ", to: server, rate: { l2: 40 Mbps }, frames: { sizes: 1000 B }, flows: 1 }\n"});
  }
  config::Topology t = topology_of(
      "run: { duration: 60 s }\nhosts: { " + hosts +
      "server: { addresses: [10.9.99.2/24] } }\nrouters: { west: {}, east: {} }\nlinks:\n" + links +
      "  core: { ends: [west, east], rate: 100 Mbps, delay: 5 ms, buffer: 1 MB, law: fcp }\n"
      "  server: { ends: [east, server], rate: 1 Gbps, delay: 100 us, buffer: 1 MB }\n"
      "customers:\n" +
      customers +
      "gateways: { west: { core: core, peers: { east: {} } }, east: { core: core, peers: { west: "
      "{} } } }\ntraffic:\n streams:\n" +
      streams);
  give_lcores(t.routers[0], west);
  give_lcores(t.routers[1], east);
  return t;
}

struct Lcores {
  size_t west, east;
};

class GatewayLcores : public GatewayWorld, public ::testing::WithParamInterface<Lcores> {
 protected:
  config::Topology with_budget(size_t changed, const std::string& budget) {
    return five_customers(GetParam().west, GetParam().east, changed, budget);
  }
  [[nodiscard]] const sender::Arrivals& arrived(size_t stream) const {
    return world->senders()[kMany]->hosts()[0]->open_loop().meter().stream(stream)->arrivals();
  }
  /// Each customer's share of the core, over `span` from now on.
  std::vector<double> shares(Nanos span) {
    std::vector<double> all;
    for (size_t c = 0; c < kMany; ++c)
      all.push_back(-static_cast<double>(west().customer(c).sent_bytes.read()));
    world->run_until(world->now() + span);
    for (size_t c = 0; c < kMany; ++c)
      all[c] = (all[c] + static_cast<double>(west().customer(c).sent_bytes.read())) /
               to_seconds(span) / kCoreRate;
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(, GatewayLcores,
                         ::testing::Values(Lcores{1, 3}, Lcores{2, 2}, Lcores{3, 2}, Lcores{8, 1}),
                         [](const auto& test) {
                           return std::to_string(test.param.west) + "And" +
                                  std::to_string(test.param.east);
                         });

TEST_P(GatewayLcores, BudgetsDecideWhereverACustomerIs) {
  make(five_customers(GetParam().west, GetParam().east));
  world->run_until(1_s);
  const std::vector<double> now = shares(1_s);
  double used = 0;
  for (const double share : now) used += share;
  EXPECT_GE(used, 0.97);
  for (size_t c = 0; c < kMany; ++c) {
    const double budget = topology.customers[c].budget.count();
    EXPECT_NEAR(now[c] / used, budget / kAllBudgets, 0.05 * budget / kAllBudgets) << c;
    EXPECT_GT(arrived(c).packets.read(), 1000U);
    EXPECT_EQ(arrived(c).reordered.read(), 0U) << "within an inner flow";
  }
  for (size_t g = 0; g < 2; ++g) {
    EXPECT_TRUE(world->router(g).snapshot().conserved());
    EXPECT_EQ(total(g, &Totals::handed_over) > 0, world->gateway(g).lcores() > 1);
  }
  for (unsigned lcore = 0; lcore < std::min<unsigned>(west().lcores(), kMany); ++lcore)
    EXPECT_GT(west().shard(lcore).totals().entered_packets.read(), 100U);
}

TEST_P(GatewayLcores, AReloadReachesTheLcoreOfItsCustomer) {
  make(five_customers(GetParam().west, GetParam().east));
  world->run_until(1_s);
  ASSERT_TRUE(world->reload(with_budget(4, "1")).has_value());
  world->run_until(1_s + 100_ms);  // ten round trips
  const std::vector<double> now = shares(500_ms);
  const std::array<double, kMany> budgets{1, 1, 2, 3, 1};
  for (size_t c = 0; c < kMany; ++c)
    EXPECT_NEAR(now[c], budgets[c] / 8, 0.05 * budgets[c] / 8) << c;
  EXPECT_FALSE(world->gateway(0).silent(0));
}

/// East stands still for 3 s: all lcores of west find that out, and find it again.
TEST_P(GatewayLcores, ASilentPeerIsFoundAgainByAll) {
  config::Topology t = five_customers(GetParam().west, GetParam().east);
  for (config::Gateway& g : t.gateways) g.silent_peer = config::SilentPeer::kDrop;
  make(std::move(t));
  world->run_until(1_s);
  world->stall_router(1, 3_s);
  world->run_until(3_s);
  for (unsigned lcore = 0; lcore < std::min<unsigned>(west().lcores(), kMany); ++lcore)
    EXPECT_TRUE(west().shard(lcore).silent(0)) << lcore;
  world->run_until(5_s);
  EXPECT_FALSE(west().silent(0));
  const std::vector<double> now = shares(500_ms);
  for (size_t c = 0; c < kMany; ++c) {
    const double budget = topology.customers[c].budget.count();
    EXPECT_NEAR(now[c], budget / kAllBudgets, 0.05 * budget / kAllBudgets) << c;
  }
  EXPECT_TRUE(world->router(0).snapshot().conserved());
}

}  // namespace
}  // namespace turnpike::lab
