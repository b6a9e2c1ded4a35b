// SPDX-License-Identifier: BSD-3-Clause
// A world whose first gateway the test looks at.
#pragma once

#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "lab/simulator/world.h"
#include "tests/support/eal.h"
#include "tests/support/ignored_outcomes.h"

namespace turnpike::lab {

/// Gives a router so many lcores. The lab does not read their numbers.
inline void give_lcores(config::Router& router, size_t lcores) {
  router.lcores.resize(lcores);
  std::iota(router.lcores.begin(), router.lcores.end(), 0U);
}

/// A topology from text; mistakes in it fail the test. Its routers have as many lcores as the
/// environment's GATEWAY_LCORES says: tests play on one lcore and on several.
inline config::Topology topology_of(const std::string& text) {
  auto loaded = config::load_text(text, "test");
  for (const auto& m : loaded ? std::vector<config::Mistake>() : loaded.error())
    ADD_FAILURE() << m.text();
  if (const char* const lcores = std::getenv("GATEWAY_LCORES"); lcores != nullptr && loaded)
    for (config::Router& r : loaded->routers) give_lcores(r, std::strtoul(lcores, nullptr, 10));
  return loaded ? std::move(*loaded) : config::Topology();
}

class GatewayWorld : public ::testing::Test {
 protected:
  static constexpr double kCoreRate = 100e6 / 8;  // B/s, of most tests' bottleneck

  void make(config::Topology given) {
    topology = std::move(given);
    auto made = World::make(topology, outcomes, {});
    ASSERT_TRUE(made.has_value()) << made.error();
    world = std::move(*made);
  }
  using Totals = gateway::GatewayTotals;

  gateway::Gateway& west() { return world->gateway(0); }
  /// A counter of a gateway.
  uint64_t total(size_t gateway, metrics::Counter Totals::*counter) {
    return world->gateway(gateway).total(counter);
  }
  /// B that customer c has sent within a span.
  double sent(size_t c, Nanos from, Nanos to) {
    world->run_until(from);
    const uint64_t before = west().customer(c).sent_bytes.read();
    world->run_until(to);
    return static_cast<double>(west().customer(c).sent_bytes.read() - before);
  }
  /// Each packet that a customer's stream has sent into its tunnel was carried, dropped, or waits.
  void expect_accounted(size_t c) {
    const gateway::CustomerTraffic& traffic = west().traffic(c);
    const gateway::Tunnel& tunnel = *west().tunnels(c)[0];
    // Datagrams of a stream have one size.
    const uint64_t datagrams = traffic.waits.read().total();
    ASSERT_GT(datagrams, 0U);
    const uint64_t size = tunnel.carried() / datagrams;
    EXPECT_EQ(traffic.offered_bytes.read(),
              (datagrams + tunnel.queue().dropped() + tunnel.queue().packets()) * size);
  }

  testing::IgnoredOutcomes outcomes;
  config::Topology topology;
  std::unique_ptr<World> world;
};

}  // namespace turnpike::lab
