// SPDX-License-Identifier: BSD-3-Clause
// Gateways under loads that no figure has: tiny packets and huge ones, budgets of nothing, prefixes
// within prefixes.
#include <string>

#include "common/units/instrumented.h"
#include "tests/support/gateway_world.h"

namespace turnpike::lab {
namespace {

struct Site {
  std::string customers;
  std::string anna = "1000 B", bert = "1000 B";  // frames of their streams
  std::string rates[2] = {"80 Mbps", "120 Mbps"};
  unsigned access_mtu = 1500, core_mtu = 1640;
  std::string gateway = {};
};

std::string text_of(const Site& s) {
  const auto stream = [](const std::string& name, const std::string& rate,
                         const std::string& frames) {
    return "  " + name + ": { from: " + name + ", to: server, rate: { l2: " + rate +
           " }, frames: { sizes: " + frames + " }, flows: 4 }\n";
  };
  const auto access = [&](const std::string& host, const std::string& node) {
    return "  " + host + ": { ends: [" + host + ", " + node +
           "], rate: 1 Gbps, delay: 100 us, buffer: 1 MB, mtu: " + std::to_string(s.access_mtu) +
           " }\n";
  };
  return "run: { duration: 60 s }\n"
         "hosts: { anna: { budget: 1 $/s, addresses: [10.9.1.2/24] }, bert: { budget: 1 $/s, "
         "addresses: [10.9.2.2/24] }, server: { addresses: [10.9.9.2/24] } }\n"
         "routers: { west: {}, east: {} }\n"
         "links:\n" +
         access("anna", "west") + access("bert", "west") +
         "  core: { ends: [west, east], rate: 100 Mbps, delay: 5 ms, buffer: 1 MB, law: fcp, "
         "mtu: " +
         std::to_string(s.core_mtu) + " }\n" + access("server", "east") + "customers:\n" +
         s.customers + "gateways:\n  west: { core: core, peers: { east: {} }" +
         (s.gateway.empty() ? "" : ", " + s.gateway) +
         " }\n  east: { core: core, peers: { west: {} } }\ntraffic:\n streams:\n" +
         stream("anna", s.rates[0], s.anna) + stream("bert", s.rates[1], s.bert);
}

class GatewayLoads : public GatewayWorld {
 protected:
  static constexpr size_t kCoreLink = 2;  // of west

  void play(const Site& site) {
    make(topology_of(text_of(site)));
    world->run_until(2_s);
    shares = {};
    const uint64_t began = tx();
    std::vector<uint64_t> before;
    for (size_t c = 0; c < topology.customers.size(); ++c)
      before.push_back(west().customer(c).sent_bytes.read());
    world->run_until(4_s);
    for (size_t c = 0; c < before.size(); ++c)
      shares.push_back(static_cast<double>(west().customer(c).sent_bytes.read() - before[c]) / 2 /
                       kCoreRate);
    used = static_cast<double>(tx() - began) / 2 / kCoreRate;
    for (size_t r = 0; r < 2; ++r) EXPECT_TRUE(world->router(r).snapshot().conserved());
    EXPECT_FALSE(west().silent(0));
    std::printf("core used %.3f, by customer:", used);
    for (const double s : shares) std::printf(" %.4f", s);
    std::printf("\n");
  }
  uint64_t tx() { return world->router(0).snapshot().links[kCoreLink].tx_bytes; }

  double used = 0;             // share of the core
  std::vector<double> shares;  // likewise, by customer
};

TEST_F(GatewayLoads, PacketsOf64BytesHaveTheirShare) {
  play({.customers =
            "  anna: { link: anna, budget: 1 $/s }\n  bert: { link: bert, budget: 1 $/s }\n",
        .anna = "64 B"});
  EXPECT_NEAR(shares[0] / shares[1], 1, 0.05);
  EXPECT_GE(used, 0.97);
}

/// carla could buy all, and sends nothing.
TEST_F(GatewayLoads, ABudgetOfNothingLeavesTheCoreToOthers) {
  for (const std::string budget : {"0 $/s", "0.000001 $/s"}) {
    SCOPED_TRACE(budget);
    play({.customers = "  anna: { link: anna, budget: " + budget +
                       " }\n  bert: { link: bert, budget: 1 $/s }\n  carla: { prefix: 10.9.7.0/24, "
                       "budget: 1000000 $/s }\n"});
    EXPECT_GE(shares[1], 0.97);
    EXPECT_LE(shares[0], 1e-4);
    EXPECT_EQ(shares[2], 0);
    expect_accounted(1);
  }
}

TEST_F(GatewayLoads, ABudgetComesBackFromNothing) {
  const std::string bert = "  bert: { link: bert, budget: 1 $/s }\n";
  const auto anna = [&](const std::string& budget) {
    return "  anna: { link: anna, budget: " + budget + " }\n";
  };
  for (const std::string least : {"0 $/s", "0.0000001 $/s", "0.001 $/s"})
    for (const bool first : {false, true}) {
      if (kInstrumented && first == (least == "0 $/s")) continue;  // one of both each
      SCOPED_TRACE(least);
      Site site{.customers = anna(first ? least : "1 $/s") + bert};
      make(topology_of(text_of(site)));
      world->run_until(2_s);
      site.customers = anna(least) + bert;
      if (!first) {
        ASSERT_TRUE(world->reload(topology_of(text_of(site))).has_value());
      }
      world->run_until(4_s);
      site.customers = anna("1 $/s") + bert;
      ASSERT_TRUE(world->reload(topology_of(text_of(site))).has_value());
      const double share =
          sent(0, 4_s + 100_ms, 4_s + 600_ms) / 0.5 / kCoreRate;  // ten round trips
      EXPECT_NEAR(share, 0.5, 0.025);
    }
}

TEST_F(GatewayLoads, OneWithoutABudgetUsesWhatIsLeft) {
  play({.customers =
            "  anna: { link: anna, budget: 0.000001 $/s }\n  bert: { link: bert, budget: 1 "
            "$/s }\n",
        .rates = {"80 Mbps", "10 Mbps"}});
  EXPECT_GE(shares[1], 0.97 * 0.1);
  EXPECT_GE(used, 0.9);
}

TEST_F(GatewayLoads, TheLongestPrefixPays) {
  play({.customers =
            "  all: { prefix: 10.9.0.0/16, budget: 1 $/s }\n  bert: { prefix: 10.9.2.0/24, "
            "budget: 3 $/s }\n  unused: { prefix: 10.9.2.128/25, budget: 9 $/s }\n"});
  EXPECT_NEAR(shares[1] / shares[0], 3, 0.15);
  EXPECT_EQ(shares[2], 0);
}

/// Frames of 1600 B do not fit a tunnel of 1640 B; frames of 8000 B fit one of 9100 B.
TEST_F(GatewayLoads, JumboPacketsPassWholeOrAreRefused) {
  const auto too_big = static_cast<size_t>(router::DropReason::kTooBig);
  for (const unsigned core : {1640U, 9100U}) {
    SCOPED_TRACE(core);
    play({.customers =
              "  anna: { link: anna, budget: 1 $/s }\n  bert: { link: bert, budget: 1 $/s }\n",
          .anna = core > 9000 ? "8000 B" : "1600 B",
          .access_mtu = 9000,
          .core_mtu = core});
    EXPECT_EQ(total(1, &Totals::bad_packets), 0U);
    expect_accounted(1);
    const auto refused = static_cast<double>(world->router(0).snapshot().drops[too_big]);
    if (core > 9000) {
      EXPECT_EQ(refused, 0);
      expect_accounted(0);
      EXPECT_NEAR(shares[0], 0.5, 0.025) << "beside datagrams of 1000 B";
      EXPECT_NEAR(shares[1], 0.5, 0.025);
    } else {
      EXPECT_GE(shares[1], 0.97);
      EXPECT_NEAR(refused, 4 * 80e6 / 8 / 1600, 5);
    }
  }
}

/// Each customer has a few packets in flight.
TEST_F(GatewayLoads, JumboPacketsFillTheCore) {
  for (const std::string anna : {"6000 B", "8900 B"})
    for (const std::string bert : {"500 B", "8900 B"}) {
      SCOPED_TRACE(anna);
      SCOPED_TRACE(bert);
      play({.customers =
                "  anna: { link: anna, budget: 1 $/s }\n  bert: { link: bert, budget: 1 $/s }\n",
            .anna = anna,
            .bert = bert,
            .access_mtu = 9000,
            .core_mtu = 9100});
      EXPECT_GE(used, 0.99);
    }
}

}  // namespace
}  // namespace turnpike::lab
