// SPDX-License-Identifier: BSD-3-Clause
// A router with two workers for a fuzz target, with ports in memory. One per process: its tables
// are too large to build for each input.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "router/router.h"
#include "tests/fuzz/bench.h"
#include "tests/support/router_topology.h"

namespace turnpike::fuzz {

struct RouterMachine {
  static constexpr unsigned kWorkers = 2;
  std::unique_ptr<Bench> bench;
  std::array<std::array<Port, kWorkers>, router::test::kLinks> ports;
  std::unique_ptr<router::Router> router;
  Nanos now{1'000'000'000};

  /// `topology`: its router 0, with the links of router::test::topology().
  RouterMachine(const char* program, const config::Topology& topology)
      : bench(set_up(program, 8191)) {
    std::vector<std::vector<QueuePair*>> queues(ports.size());
    for (size_t l = 0; l < ports.size(); ++l)
      for (auto& port : ports[l]) queues[l].push_back(&port);
    const std::vector<rte_mempool*> pools(kWorkers, bench->pool.get());
    auto made = router::Router::make(topology, 0, queues, pools, {.workers = kWorkers});
    require(made.has_value(), "a router is made");
    router = std::move(*made);
  }

  void poll() {
    for (unsigned w = 0; w < kWorkers; ++w) router->worker(w).poll(now);
    for (auto& link : ports)
      for (Port& port : link) port.take([](const rte_mbuf&) {});
  }
};

}  // namespace turnpike::fuzz
