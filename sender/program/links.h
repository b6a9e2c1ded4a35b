// SPDX-License-Identifier: BSD-3-Clause
// The links of the hosts that a process plays: waited for before the run, looked after during it.
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

using Players = std::span<const std::unique_ptr<LcoreRunner>>;

/// Starts the ports and waits until all links are up, for `patience` or until a signal. The error:
/// ports that do not start, or links that stay down.
tl::expected<void, std::string> wait_for_peers(const config::Topology& topology, Players runners,
                                               Nanos patience);

/// For the control thread, while the runners run.
class Links {
 public:
  Links(const config::Topology& topology, Players runners);

  /// Call it every 10 to 20 ms: reports changes to standard error, and tells runners whose links
  /// are up again.
  void poll(Nanos now);
  [[nodiscard]] const LinkMonitor& monitor() const { return monitor_; }

 private:
  std::vector<LcoreRunner*> runners_;  // by link
  LinkMonitor monitor_;
};

}  // namespace turnpike::sender
