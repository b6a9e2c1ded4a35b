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
#include "router/control/file_routes.h"
#include "router/control/tables.h"
#include "router/datapath/enforcement/enforcement.h"
#include "router/datapath/multicast/tree_state.h"
#include "router/datapath/punt/punt_path.h"
#include "router/datapath/worker.h"
#include "router/snapshot.h"

namespace turnpike::router {

/// Slack for late polls on a busy machine: the least retransmission time-out. After a longer stall
/// senders have sent again what waited.
inline constexpr Nanos kRealTimeSlack = 200_ms;

struct RouterOptions {
  unsigned workers = 1;
  Nanos slack{0};                   // link time on which a late poll may catch up; 0: exact pacing
  double errors_per_second = 1000;  // ICMP errors, per worker
  double errors_at_once = 100;
  uint32_t most_held = 0;      // upper bound of packets waiting; 0: as many as a pool has
  bool growing = false;        // queues start small and grow: only if one thread polls all workers
  bool linux_control = false;  // heeds `control: linux`, for a caller that runs a PuntThread
  RssSteering* steering = nullptr;  // of the ports' redirection tables; null: these do not change
  bool share_pool = false;  // limits each link's share of `pools`, which the ports receive into
  int socket = -1;          // NUMA node of tables and queues; -1: any
  const Protocol* (*find)(std::string_view name) = find_protocol;  // of the links' laws
  Addresses addresses = Addresses::kFromFile;                      // only for routers with `fib`
  FibKind fib = FibKind::kTable;                                   // only for those without
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

  /// A changed configuration, built beside the running one: see router/reload/change.h.
  struct Change;
  struct FreeChange {
    void operator()(Change* change) const;
  };
  using ChangePtr = std::unique_ptr<Change, FreeChange>;
  /// Builds what `wanted` changes, while workers run: takes memory and time, changes nothing. The
  /// router was made from, or last reconfigured to, `running`. The error: all reasons why it cannot
  /// be done, a line each; plan() in router/reload/plan.h gives those that do not depend on this
  /// machine.
  tl::expected<ChangePtr, std::string> prepare(const config::Topology& running,
                                               const config::Topology& wanted);
  /// Makes the change. Call while no worker polls, between two polls of each; takes microseconds,
  /// allocates nothing and cannot fail. `change` keeps what was replaced; free it when workers run
  /// again. Only the change that was prepared last may be applied, and once.
  void apply(Change& change);
  /// Changes the file's routes in the tables that a control plane changes as well; does nothing for
  /// other routers, whose tables apply() exchanges. Call when workers run again.
  void apply_routes(const Change& change);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Worker& worker(unsigned i) { return *workers_[i]; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(workers_.size()); }

  /// Says whether the port at a link has a carrier; links begin with one. A link without drops the
  /// packets that are routed to it or wait for it, as `link_down`, and keeps its prices. Any
  /// thread.
  void set_link_up(size_t link, bool up) {
    if (links_[link]->up.exchange(up, std::memory_order_relaxed) == up) return;
    link_changes_.fetch_add(1, std::memory_order_release);
  }

  /// Says how many packets the NIC of a link's port has dropped since the start because of their
  /// martian sources, see SourceFilter. They count as received from the link, without bytes, and as
  /// dropped as `martian_source`. Control thread.
  void set_nic_drops(size_t link, uint64_t packets) { nic_drops_[link].set(packets); }

  /// Queues to and from Linux's interfaces; null: Linux is not the control plane.
  [[nodiscard]] PuntPath* punt_path() { return punt_.get(); }
  /// By link: the worker that sends frames from Linux.
  [[nodiscard]] std::vector<unsigned> owners() const;

  /// Safe while workers run; their counters are then read at slightly different times.
  [[nodiscard]] Snapshot snapshot() const;
  /// Writes the figures of a link's law, as many as there is room for, and returns how many. As
  /// snapshot(), without its other figures.
  size_t gauges(size_t link, std::span<Gauge> out) const;
  /// Waiting times in a link's queue, ns. `link`: index in the router's list.
  [[nodiscard]] metrics::Histogram waits(size_t link) const;
  /// The tables that a control plane changes, from one thread; null: the router has no `fib`.
  [[nodiscard]] RouteTable* routes() { return route_table_.get(); }
  [[nodiscard]] const RouteTable* routes() const { return route_table_.get(); }
  /// Packets admitted and not yet sent, or on their way to Linux. Packets that wait for neighbours
  /// are left out.
  [[nodiscard]] uint64_t held() const;
  /// Customers whose packets were dropped, in order of their numbers. Safe while workers run.
  [[nodiscard]] std::vector<CustomerSnapshot> customers() const;
  /// The customer of a source address, or of the link by which its packets came; "": none, or the
  /// router knows no customers. One thread at a time, not while apply() runs.
  [[nodiscard]] std::string customer_of(const Address& source, std::optional<size_t> link) const;
  /// The newest senders that audits have blocked, summed over workers. Any thread.
  [[nodiscard]] std::vector<OffenderSnapshot> offenders() const;

 private:
  Router() = default;
  [[nodiscard]] tl::expected<std::unique_ptr<const Tables>, std::string> build_tables(
      const config::Topology& topology, size_t node) const;
  [[nodiscard]] const CustomerTable* customer_table() const;
  [[nodiscard]] std::unique_ptr<LinkRing> make_ring(const EgressLink& link, unsigned worker,
                                                    unsigned classes) const;
  Worker::Parts parts_of(const config::Topology& topology, size_t node, unsigned worker);
  tl::expected<void, std::string> prepare_customers(const config::Topology& running,
                                                    const config::Topology& wanted, Change& change);
  tl::expected<void, std::string> prepare_link(const config::Topology& running,
                                               const config::Topology& wanted, size_t l,
                                               Change& change);
  void apply_link(size_t l, Change& change);
  void apply_customers(Change& change);

  std::string name_;
  RouterOptions options_;
  std::vector<rte_mempool*> pools_;  // by worker
  std::unique_ptr<const Tables> tables_;
  std::atomic<const Tables*> current_{nullptr};
  std::unique_ptr<RouteTable> route_table_;          // null: the routes are in tables_
  std::atomic<const Routes*> file_routes_{nullptr};  // then
  std::vector<std::unique_ptr<EgressLink>> links_;
  std::atomic<uint32_t> link_changes_{0};  // times that a link came up or went down
  std::vector<WorkerCounters> counters_;
  std::vector<metrics::Counter> nic_drops_;     // by link; the control thread writes
  std::unique_ptr<PuntPath> punt_;              // null: Linux is not the control plane
  std::unique_ptr<MulticastState> multicast_;   // null: no tree has a branch here
  std::unique_ptr<Enforcement> enforcement_;    // null: none
  std::unique_ptr<const CustomerTable> table_;  // if groups share a link here, without enforcement_
  std::vector<config::Customer> customers_;     // of enforcement_
  CustomerSnapshot former_;                     // drops of customers that are no more
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace turnpike::router
