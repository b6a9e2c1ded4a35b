// SPDX-License-Identifier: BSD-3-Clause
// Paths of fewest links between two hosts, from the graph alone. Used for files whose routing
// tables have mistakes: two hosts without a path here have none with any tables.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/path.h"

namespace turnpike::config {

/// Keeps a reference to the topology, whose link ends must not change. Skips ends without a node.
class GraphPaths {
 public:
  explicit GraphPaths(const Topology& topology);

  /// Empty without a path. Hosts do not forward.
  std::vector<Hop> path(size_t from_host, size_t to_host);

 private:
  using Arrivals = std::map<std::string_view, Hop>;  // by node: the last link on the path there

  Arrivals search(std::string_view from) const;

  const Topology& topology_;
  std::map<std::string_view, std::vector<Hop>> departures_;  // by node
  std::vector<bool> is_searched_;
  std::vector<Arrivals> from_;  // by host
};

}  // namespace turnpike::config
