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
#include "common/program/idle_sleeper.h"
#include "common/program/link_monitor.h"
#include "common/program/stalls.h"
#include "common/time/clock.h"
#include "router/program/ports.h"
#include "router/router.h"

namespace turnpike::router {

/// Used by the control thread. Allocates the pool, owns the ports, starts and stops the workers.
class Engine {
 public:
  struct Options {
    unsigned workers = 1;
    Nanos slack{0};
    SleepLimits limits;  // of idle workers
  };
  /// Attaches and configures the ports and builds the router, without starting them. `devices`: by
  /// link of topology.routers[node]. The error has the link or resource and the reason.
  static tl::expected<std::unique_ptr<Engine>, std::string> make(
      const config::Topology& topology, size_t node, const std::vector<LinkDevice>& devices,
      const Options& options);
  ~Engine();

  /// Starts the ports and waits until memif clients are connected, see wait_for_links(). The error
  /// names the ports that did not start.
  tl::expected<void, std::string> start(const std::function<bool()>& pause);
  /// Starts the workers on their lcores. `clock` must outlive them.
  void launch(const TscClock& clock);
  /// Stops reception, lets the queues drain while `may_wait` returns true, then drops the rest.
  /// Returns when all workers have ended.
  void stop(const std::function<bool()>& may_wait);
  /// Frees ports and router. The error: buffers that were not returned.
  tl::expected<void, std::string> close();

  [[nodiscard]] const Router& router() const { return *router_; }
  /// Stalls of the workers' threads, as text; empty: none.
  [[nodiscard]] std::string stalls_text() const;
  /// Total time of stalls, over all workers.
  [[nodiscard]] Nanos stalled() const;
  /// A line for every worker that polls a port on another NUMA node; empty: none does.
  [[nodiscard]] const std::string& remote_text() const { return remote_; }
  /// By link.
  [[nodiscard]] std::vector<PortStats> port_stats() const;
  /// A monitor of all links, for the control thread while the router runs.
  [[nodiscard]] LinkMonitor monitor();

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

  Pool pool_;
  std::vector<Port> ports_;
  std::vector<std::string> links_;                       // their names
  std::vector<std::unique_ptr<DelayLine>> delay_lines_;  // of links to other routers
  unsigned kept_ = 0;                                    // buffers that drivers never free
  std::unique_ptr<Router> router_;
  std::vector<Job> jobs_;
  std::vector<Stalls> stalls_;  // by worker
  std::string remote_;
  const TscClock* clock_ = nullptr;
  SleepLimits limits_;
  bool running_ = false;
  std::atomic<bool> stop_{false};     // end reception
  std::atomic<bool> discard_{false};  // drop packets still held
  std::atomic<unsigned> stopped_{0};  // workers that have ended reception
};

}  // namespace turnpike::router
