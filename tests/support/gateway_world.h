// SPDX-License-Identifier: BSD-3-Clause
// A world whose first gateway the test looks at.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "lab/simulator/world.h"
#include "tests/support/eal.h"
#include "tests/support/ignored_outcomes.h"

namespace turnpike::lab {

/// A topology from text; mistakes in it fail the test.
inline config::Topology topology_of(const std::string& text) {
  auto loaded = config::load_text(text, "test");
  for (const auto& m : loaded ? std::vector<config::Mistake>() : loaded.error())
    ADD_FAILURE() << m.text();
  return loaded ? std::move(*loaded) : config::Topology();
}

class GatewayWorld : public ::testing::Test {
 protected:
  void make(config::Topology given) {
    topology = std::move(given);
    auto made = World::make(topology, outcomes, {});
    ASSERT_TRUE(made.has_value()) << made.error();
    world = std::move(*made);
  }
  gateway::Gateway& west() { return world->gateway(0); }
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
