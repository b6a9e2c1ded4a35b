// SPDX-License-Identifier: BSD-3-Clause
// The fewest links between two hosts by the graph alone, for files whose routing tables are in
// doubt: what has no way here has none with any tables.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/path.h"

namespace turnpike::config {

/// The topology's ends must stay as they are; ends without a node are nobody's.
class GraphPaths {
 public:
  explicit GraphPaths(const Topology& topology);

  /// Empty where there is no way. Hosts do not forward.
  std::vector<Hop> path(size_t from_host, size_t to_host);

 private:
  using Arrivals = std::map<std::string_view, Hop>;  // by node: the last link on the way there

  Arrivals search(std::string_view from) const;

  const Topology& topology_;
  std::map<std::string_view, std::vector<Hop>> departures_;  // by node
  std::vector<bool> is_searched_;
  std::vector<Arrivals> from_;  // by host
};

}  // namespace turnpike::config
