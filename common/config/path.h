// SPDX-License-Identifier: BSD-3-Clause
// Which way packets go: the directed links between two hosts, found by following the routes.
#pragma once

#include <cstddef>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::config {

/// One link crossed, in one of its two directions: topology.links[link].directions[direction].
struct Hop {
  size_t link = 0;
  size_t direction = 0;
  bool operator==(const Hop&) const = default;
};

/// The links that packets of `ip_version` cross from one host to another, in order. It looks up
/// every router's routes as the datapath does (longest match), so it shows routes given by hand
/// too. Empty where there is no way or the routes go round in a circle.
std::vector<Hop> path_between(const Topology& topology, size_t from_host, size_t to_host,
                              unsigned ip_version = 4);

/// Propagation time of a path, one way.
Nanos propagation(const Topology& topology, const std::vector<Hop>& path);

/// Propagation there and back, without queues and transmission times; kNever without a way.
Nanos round_trip(const Topology& topology, size_t from_host, size_t to_host,
                 unsigned ip_version = 4);

}  // namespace turnpike::config
