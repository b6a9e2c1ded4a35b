// SPDX-License-Identifier: BSD-3-Clause
// NICs of a router that drop packets from martian sources for it (`nic_filters: on`).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/dpdk/port.h"
#include "common/dpdk/source_filter.h"
#include "router/router.h"

namespace turnpike::router {

/// Control thread.
class NicFilters {
 public:
  /// Gives the NICs among the started ports, by link, their rules, once. Ports must outlive this
  /// object. `linux_control`: see martian_sources().
  void install(std::span<const Port> ports, bool linux_control);

  /// Asks the NICs how many packets they have dropped, and lets the router count them. `links`: for
  /// each port, the link to count them at.
  void count(Router& router, std::span<const size_t> links);
  /// Lines for the log: the sources whose packets a NIC drops, and those for which its driver takes
  /// no rule, with the reason. `links`: names.
  [[nodiscard]] std::vector<std::string> texts(std::span<const Port> ports,
                                               std::span<const std::string> links) const;

 private:
  std::vector<std::optional<SourceFilter>> filters_;  // by link; none: the port is no NIC
};

}  // namespace turnpike::router
