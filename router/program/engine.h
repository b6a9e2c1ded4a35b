// SPDX-License-Identifier: BSD-3-Clause
// A running router: its pool, its ports, and its workers on lcores.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/dpdk/delay_line.h"
#include "common/dpdk/pool.h"
#include "common/dpdk/port.h"
#include "common/dpdk/port_facts.h"
#include "common/program/idle_sleeper.h"
#include "common/program/link_monitor.h"
#include "common/program/stalls.h"
#include "common/time/clock.h"
#include "router/gateway/gateway.h"
#include "router/linux/linux_interfaces.h"
#include "router/program/barrier.h"
#include "router/program/lcore_meter.h"
#include "router/program/link_queues.h"
#include "router/program/linux_control.h"
#include "router/program/nic_filters.h"
#include "router/program/port_balancer.h"
#include "router/program/ports.h"
#include "router/router.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// Used by the control thread. Allocates the pool, owns the ports, starts and stops the workers.
class Engine {
 public:
  struct Options {
    unsigned workers = 1;
    Nanos slack{0};
    SleepLimits limits;          // of idle workers
    size_t netlink_buffer = 0;   // B, see KernelReader::Limits::receive_buffer
    sender::SecretKey secret{};  // of a gateway's flows
  };
  /// Attaches and configures the ports and builds the router, without starting them. `devices`: by
  /// link of topology.routers[node]. The error has the link or resource and the reason.
  static tl::expected<std::unique_ptr<Engine>, std::string> make(
      const config::Topology& topology, size_t node, const std::vector<LinkDevice>& devices,
      const Options& options);
  ~Engine();

  /// Starts the ports, gives NICs their rules, and waits until memif clients are connected, see
  /// wait_for_links(). The error names the ports that did not start.
  tl::expected<void, std::string> start(const std::function<bool()>& pause);
  /// Starts the workers on their lcores, and the punt thread. `clock` must outlive them.
  tl::expected<void, std::string> launch(const TscClock& clock);
  /// Stops reception, lets the queues drain while `may_wait` returns true, then drops the rest.
  /// Returns when all workers have ended.
  void stop(const std::function<bool()>& may_wait);
  /// Frees ports and router. The error: buffers that were not returned.
  tl::expected<void, std::string> close();

  /// Holds all workers between two polls, runs `change` on this thread, and lets them go on: for
  /// Router::apply(). `change` must be short, since no packet is forwarded meanwhile. The pause
  /// does not count as a stall, but laws do not count its time either. The error: a worker has not
  /// come to the end of its poll within `timeout`; `change` has not run.
  tl::expected<void, std::string> at_quiescence(const std::function<void()>& change,
                                                Nanos timeout = 2_s);
  /// Time from the request until all workers were held, and until they went on, of the last call.
  struct Pause {
    Nanos gathering{0}, held{0};
  };
  [[nodiscard]] const Pause& last_pause() const { return pause_; }

  [[nodiscard]] Router& router() { return *router_; }
  /// For at_quiescence().
  [[nodiscard]] Worker& worker(unsigned index) { return router_->worker(index); }
  [[nodiscard]] const Router& router() const { return *router_; }
  /// Null: the router is no gateway.
  [[nodiscard]] gateway::Gateway* gateway() { return gateway_.get(); }
  [[nodiscard]] const gateway::Gateway* gateway() const { return gateway_.get(); }
  /// Stalls of the workers' threads, as text; empty: none.
  [[nodiscard]] std::string stalls_text() const;
  /// Total time of stalls, over all workers; of one worker.
  [[nodiscard]] Nanos stalled() const;
  /// By worker, a number that changes with each of its polls.
  [[nodiscard]] std::vector<int64_t> progress() const;
  /// Packets of customers that still waited for tunnels at stop(), and were dropped.
  [[nodiscard]] uint32_t left_in_tunnels() const { return left_in_tunnels_; }
  /// A line for every worker that polls a port on another NUMA node; empty: none does.
  [[nodiscard]] const std::string& remote_text() const { return remote_; }
  /// A line for every NIC: its driver, the offloads that are on, its flow control, and the sources
  /// whose packets it drops.
  [[nodiscard]] std::vector<std::string> nic_texts() const;
  /// A line for every NIC that does not spread all packets over its queues, with the way out.
  [[nodiscard]] std::vector<std::string> spread_warnings() const;
  /// A line for every NIC whose slot is slower than the NIC or its link, with the way out.
  [[nodiscard]] std::vector<std::string> slot_warnings() const;
  /// By link; links in VLANs of one port have its counters each.
  [[nodiscard]] std::vector<PortStats> port_stats() const;
  /// By link, as start() found them; the speed of a link that is up is the present one.
  [[nodiscard]] std::vector<PortFacts> port_facts() const;
  /// The link of a received packet by rte_mbuf::port; none: it came from no port of this router.
  [[nodiscard]] std::optional<size_t> link_of_port(uint16_t port) const;
  /// The port at a link, and whether its link is up.
  [[nodiscard]] const std::string& port_name(size_t link) const { return port(link).name(); }
  [[nodiscard]] bool link_up(size_t link) const { return port(link).link_up(); }
  /// By link, with all that the drivers count; links in VLANs of one port have all of its counters
  /// each. Control thread.
  [[nodiscard]] std::vector<PortFigures> ports() const;
  /// Asks the NICs how many packets they have dropped for the router, which counts them from then
  /// on. stop() does so last. Control thread.
  void count_nic_drops();
  /// By worker. Any thread.
  [[nodiscard]] std::vector<LcoreFigures> lcores() const;
  /// A monitor of all links, for the control thread while the router runs.
  [[nodiscard]] LinkMonitor monitor();
  /// Lets the router follow the links: one whose port has no carrier takes no packets. Call after
  /// each poll of the monitor. Ports without a medium are left out: memif's refuses packets by
  /// itself while it has no peer, and these wait in their queues for a peer that connects again.
  void follow_links(const LinkMonitor& links);
  /// Lets Linux's interfaces follow the links, and the router's tables follow Linux's. Call after
  /// each poll of the monitor, and as LinuxControl::poll() says; returns the same. kNever: Linux is
  /// not the control plane.
  Nanos serve_linux(const LinkMonitor& links, Nanos now);
  /// Moves flows from busy lcores to others; returns the time of the next call, kNever: never.
  /// While the workers run.
  Nanos balance() { return balancer_ ? balancer_->poll(*clock_, lcores(), *router_) : kNever; }
  /// Null: no flows move.
  [[nodiscard]] PortBalancer* balancer() { return balancer_.get(); }
  [[nodiscard]] const PortBalancer* balancer() const { return balancer_.get(); }
  /// Null: Linux is not the control plane.
  [[nodiscard]] LinuxControl* linux_control() { return control_.get(); }

 private:
  struct Job {
    Engine* engine;
    unsigned worker;
  };
  Engine(Pool pool, std::vector<Port> ports) : pool_(std::move(pool)), ports_(std::move(ports)) {}
  /// Assigns port queues, with the links' delay lines before them, to workers: [link][worker].
  std::vector<std::vector<QueuePair*>> plug_in(const config::Topology& topology, size_t node,
                                               const std::vector<LinkDevice>& devices,
                                               unsigned workers, size_t buffers);
  void run(unsigned index);
  [[nodiscard]] Port& port(size_t link) { return ports_[port_of_[link]]; }
  [[nodiscard]] const Port& port(size_t link) const { return ports_[port_of_[link]]; }
  [[nodiscard]] PortStats stats(size_t link) const;

  Barrier barrier_;
  Pool pool_;
  std::unique_ptr<PortBalancer> balancer_;  // null: no flows move; has packets of the pool
  std::vector<Port> ports_;
  std::unique_ptr<NicFilters> filters_;      // null: NICs drop nothing; ends before the ports
  std::vector<PortFacts> facts_;             // by port, since start()
  std::vector<std::string> port_links_;      // names of the links, by port
  std::vector<size_t> first_links_;          // the first link of each port
  std::vector<std::string> links_;           // names, by link
  std::vector<size_t> port_of_;              // index into ports_, by link
  std::unique_ptr<LinkQueues> link_queues_;  // with received packets of the pool
  std::vector<std::unique_ptr<DelayLine>> delay_lines_;  // of links to other routers
  std::unique_ptr<gateway::Gateway> gateway_;  // null: the router is none; ends after its workers
  std::unique_ptr<Router> router_;
  std::unique_ptr<LinuxInterfaces> linux_;  // null: Linux is not the control plane
  std::unique_ptr<LinuxControl> control_;   // the same
  std::vector<Job> jobs_;
  std::vector<Stalls> stalls_;         // by worker
  std::vector<LcoreCounters> lcores_;  // by worker
  std::string remote_;
  const TscClock* clock_ = nullptr;
  SleepLimits limits_;
  Pause pause_;
  unsigned kept_ = 0;  // buffers that drivers never free
  uint32_t left_in_tunnels_ = 0;
  std::atomic<unsigned> stopped_{0};  // workers that have ended reception
  std::atomic<bool> stop_{false};     // end reception
  std::atomic<bool> discard_{false};  // drop packets still held
  bool running_ = false;
};

}  // namespace turnpike::router
