// SPDX-License-Identifier: BSD-3-Clause
// Which machine runs which nodes of a topology.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::lab {

/// Nodes that are to run on a machine, as a user asks for it.
struct Placement {
  std::string host;                // for ssh; empty: this machine
  std::vector<std::string> nodes;  // routers and hosts

  /// "ssh:HOST=NODE,NODE" or "local=NODE,NODE". The error says what is wrong.
  static tl::expected<Placement, std::string> parse(std::string_view text);
};

/// A machine and the nodes that it runs, in the file's order.
struct Place {
  std::string host;                       // for ssh; empty: this machine
  std::vector<std::string> routers = {};  // a process each
  std::vector<std::string> hosts = {};    // all in one process

  /// For messages and folders.
  [[nodiscard]] std::string name() const { return host.empty() ? "local" : host; }
};

/// Places all nodes: those that no placement names run on this machine, and external hosts nowhere.
/// The errors: all unknown nodes, nodes that are placed twice, no host at all, and links between
/// machines that only work within one.
tl::expected<std::vector<Place>, std::vector<std::string>> place_nodes(
    const config::Topology& topology, const std::vector<Placement>& placements);

}  // namespace turnpike::lab
