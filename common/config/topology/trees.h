// SPDX-License-Identifier: BSD-3-Clause
// Multicast distribution trees.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/config/topology/addresses.h"

namespace turnpike::config {

/// One router's part of a tree, as links of the topology.
struct Branch {
  size_t router = 0;
  size_t upstream = 0;           // the root's packets arrive by it, answers leave by it
  std::vector<size_t> children;  // the root's packets leave by them, answers arrive by them
};

/// A multicast distribution tree: paths from the root to the receivers, each link once.
struct Tree {
  std::string name;
  Ipv4 ipv4 = 0;  // group addresses
  Ipv6 ipv6{};
  size_t root = 0;                // host that sends
  std::vector<size_t> receivers;  // hosts
  std::vector<Branch> branches;   // routers, those nearer to the root first
};

}  // namespace turnpike::config
