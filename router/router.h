// SPDX-License-Identifier: BSD-3-Clause
// One router node of a topology, put together from ports that somebody else opened.
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
#include "router/datapath/worker.h"
#include "router/snapshot.h"

namespace turnpike::router {

/// Slack where polls come as late as a busy machine makes them: beyond stalls of 50 ms.
inline constexpr Nanos kRealTimeSlack = 64_ms;

struct RouterOptions {
  unsigned workers = 1;
  Nanos slack{0};                   // how much link time a late poll may catch up; 0: exact pacing
  double errors_per_second = 1000;  // ICMP errors, per worker
  double errors_at_once = 100;
  uint32_t most_held = 0;   // packets that can wait at most; 0: as many as a pool has
  bool growing = false;     // queues begin small and grow: only where one thread polls all workers
  bool share_pool = false;  // limits each link's share of `pools`, which the ports receive into
  int socket = -1;          // NUMA node of tables and queues; -1: any
  const Protocol* (*find)(std::string_view name) = find_protocol;  // of the links' laws
};

/// Works on any QueuePair: NIC queues in a process of its own, rings on a virtual clock.
class Router {
 public:
  /// `ports[link][worker]`, links as Topology::routers[node].links orders them; null where a port
  /// has fewer queues than there are workers, but never for all of them: the others then hand
  /// their packets to the first that has one. `pools[worker]`: for what the router makes itself.
  static tl::expected<std::unique_ptr<Router>, std::string> make(
      const config::Topology& topology, size_t node,
      const std::vector<std::vector<QueuePair*>>& ports, std::span<rte_mempool* const> pools,
      const RouterOptions& options);

  [[nodiscard]] Worker& worker(unsigned i) { return *workers_[i]; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(workers_.size()); }

  /// Safe while workers run; their figures are then those of slightly different moments.
  [[nodiscard]] Snapshot snapshot() const;
  /// How long packets waited in the queue of a link, by its place in the router's list; ns.
  [[nodiscard]] metrics::Histogram waits(size_t link) const;
  /// Packets admitted and not yet sent.
  [[nodiscard]] uint64_t held() const;

 private:
  Router() = default;

  std::unique_ptr<const Tables> tables_;
  std::atomic<const Tables*> current_{nullptr};
  std::vector<std::unique_ptr<EgressLink>> links_;
  std::vector<WorkerCounters> counters_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace turnpike::router
