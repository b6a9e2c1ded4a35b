// SPDX-License-Identifier: BSD-3-Clause
// One router node of a topology, built on ports that the caller opened.
//
// Example:
//
//     #include "common/config/load.h"
//     #include "common/dpdk/pool.h"
//     #include "common/dpdk/ring_queue.h"
//
//     const auto topology = config::load_file("configs/demo.yaml");
//     const auto pool = Pool::create("router", {});
//     auto cable = RingCable::create("cable", 1024);
//     if (!topology || !pool || !cable) return;
//     // For each link a queue pair per worker; here all links share one.
//     const std::vector<std::vector<QueuePair*>> ports(topology->routers[0].links.size(),
//                                                      {&cable->end(0)});
//     rte_mempool* const pools[] = {pool->get()};
//     const auto router = Router::make(*topology, 0, ports, pools, {.workers = 1});
//     if (!router) return;                                  // router.error() says why
//     const Nanos next = (*router)->worker(0).poll(10_us);  // when to poll next
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/protocols/registry.h"
#include "router/control/tables.h"
#include "router/datapath/enforcement/enforcement.h"
#include "router/datapath/multicast/tree_state.h"
#include "router/datapath/worker.h"
#include "router/snapshot.h"

namespace turnpike::router {

/// Slack for late polls on a busy machine: longer than stalls of 50 ms.
inline constexpr Nanos kRealTimeSlack = 64_ms;

struct RouterOptions {
  unsigned workers = 1;
  Nanos slack{0};                   // link time on which a late poll may catch up; 0: exact pacing
  double errors_per_second = 1000;  // ICMP errors, per worker
  double errors_at_once = 100;
  uint32_t most_held = 0;   // upper bound of packets waiting; 0: as many as a pool has
  bool growing = false;     // queues start small and grow: only if one thread polls all workers
  bool share_pool = false;  // limits each link's share of `pools`, which the ports receive into
  int socket = -1;          // NUMA node of tables and queues; -1: any
  const Protocol* (*find)(std::string_view name) = find_protocol;  // of the links' laws
};

/// Works on any QueuePair: NIC queues in a process of its own, rings on a virtual clock.
class Router {
 public:
  /// `ports[link][worker]`, with links in the order of Topology::routers[node].links; null if a
  /// port has fewer queues than there are workers, but not for all workers: those without a queue
  /// pass their packets to the first that has one. `pools[worker]`: for packets that the router
  /// originates.
  static tl::expected<std::unique_ptr<Router>, std::string> make(
      const config::Topology& topology, size_t node,
      const std::vector<std::vector<QueuePair*>>& ports, std::span<rte_mempool* const> pools,
      const RouterOptions& options);

  [[nodiscard]] Worker& worker(unsigned i) { return *workers_[i]; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(workers_.size()); }

  /// Safe while workers run; their counters are then read at slightly different times.
  [[nodiscard]] Snapshot snapshot() const;
  /// Waiting times in a link's queue, ns. `link`: index in the router's list.
  [[nodiscard]] metrics::Histogram waits(size_t link) const;
  /// Packets admitted and not yet sent.
  [[nodiscard]] uint64_t held() const;
  /// Customers whose packets were dropped, in order of their numbers. Safe while workers run.
  [[nodiscard]] std::vector<CustomerSnapshot> customers() const;
  /// The newest senders that audits have blocked, summed over workers. Any thread.
  [[nodiscard]] std::vector<OffenderSnapshot> offenders() const;

 private:
  Router() = default;

  std::unique_ptr<const Tables> tables_;
  std::atomic<const Tables*> current_{nullptr};
  std::vector<std::unique_ptr<EgressLink>> links_;
  std::vector<WorkerCounters> counters_;
  std::unique_ptr<MulticastState> multicast_;   // null: no tree has a branch here
  std::unique_ptr<Enforcement> enforcement_;    // null: none
  std::unique_ptr<const CustomerTable> table_;  // if groups share a link here, without enforcement_
  std::vector<config::Customer> customers_;     // of enforcement_
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace turnpike::router
