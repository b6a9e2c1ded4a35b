// SPDX-License-Identifier: BSD-3-Clause
// The control thread's event loop while the workers run: samples, link states, requests.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <tl/expected.hpp>

#include "common/program/service_manager.h"
#include "common/report/live.h"
#include "common/time/clock.h"
#include "router/program/control_server.h"
#include "router/program/engine.h"
#include "router/program/metrics_server.h"
#include "router/program/observer.h"
#include "router/program/options.h"
#include "router/program/reload_requests.h"
#include "router/results/accounts.h"
#include "router/results/customers.h"
#include "router/results/record.h"
#include "router/results/sampler.h"
#include "router/telemetry/figures.h"

namespace turnpike::router {

/// The parts that the control thread works on. All of them must outlive the loop.
struct Controlled {
  Engine& engine;
  const TscClock& clock;
  const config::Topology& topology;
  size_t node;  // index of the router
  const Options& options;
  Record& record;
  ServiceManager& manager;
  ReloadRequests& reload;
};

class ControlLoop {
 public:
  /// Between two pages of metrics.
  static constexpr Nanos kPageInterval = 1_s;
  /// Between two questions to NICs for packets that they have dropped.
  static constexpr Nanos kNicInterval = 1_s;

  explicit ControlLoop(const Controlled& controlled);

  /// Opens the control socket. The error says why it cannot be opened.
  tl::expected<void, std::string> listen();
  /// Starts the server of metrics if --metrics asks for it. The error says why it cannot listen.
  tl::expected<void, std::string> serve_metrics();
  /// Opens the accounts of customers if --accounting asks for them. The error says why they cannot
  /// be written.
  tl::expected<void, std::string> keep_accounts();
  /// Writes the last accounts, once the workers have stopped. The error: they are not written.
  tl::expected<void, std::string> end_accounts();

  /// Runs until a signal or the end of --duration. The error is the reason why the router could not
  /// go on.
  tl::expected<void, std::string> run();

 private:
  void tick();
  void serve_linux();
  void balance();
  void watch_linux();
  void sample(Nanos now);
  void write_accounts();
  void serve();
  /// All figures at present.
  [[nodiscard]] Figures figures() const;

  Controlled on_;
  std::string name_;
  asio::io_context loop_;
  std::unique_ptr<ControlServer> server_;  // null: no control socket
  double started_;                         // UNIX time at which the clock was 0, s
  Observer observer_;
  Sampler sampler_;
  metrics::NonBlockingOutput output_;  // standard output
  report::Live live_;
  uint64_t left_out_ = 0;  // views, as logged
  LinkMonitor links_;
  std::vector<asio::posix::stream_descriptor> kernel_;  // Linux's netlink sockets
  CustomerLog customers_;
  Sample last_;        // sample
  Snapshot snapshot_;  // of it
  Nanos end_, next_;
  Nanos next_balance_{0};
  std::unique_ptr<MetricsServer> metrics_;  // null: no --metrics
  Nanos next_page_{0};
  Nanos next_nic_drops_{0};
  std::optional<Accounts> accounts_;  // none: no --accounting
  Nanos next_accounts_{0};
};

}  // namespace turnpike::router
