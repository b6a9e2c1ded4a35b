// SPDX-License-Identifier: BSD-3-Clause
// Waits for the links of a process's hosts before the run, and monitors them during it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/program/link_monitor.h"
#include "sender/program/lcore_runner.h"

namespace turnpike::sender {

using LcoreRunners = std::span<const std::unique_ptr<LcoreRunner>>;

/// Starts the ports and waits until all links are up, for that time or until a signal. The error
/// names ports that do not start or links that stay down.
tl::expected<void, std::string> wait_for_peers(const config::Topology& topology,
                                               LcoreRunners runners, Nanos timeout);

/// Monitors links on the control thread while the runners run.
class Links {
 public:
  Links(const config::Topology& topology, LcoreRunners runners);

  /// Prints changes to standard error, and calls link_restored() of runners whose links are up
  /// again. Call every 10 to 20 ms.
  void poll(Nanos now);
  [[nodiscard]] const LinkMonitor& monitor() const { return monitor_; }

 private:
  std::vector<LcoreRunner*> runners_;  // by link
  LinkMonitor monitor_;
};

}  // namespace turnpike::sender
