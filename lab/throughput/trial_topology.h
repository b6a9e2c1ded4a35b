// SPDX-License-Identifier: BSD-3-Clause
// Derives the topologies of trials from the file's topology.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::lab {

/// The file's topology with its streams alone, each at that share of its rate, for `duration`.
config::Topology at_share(const config::Topology& topology, double share, Nanos duration);

/// The generator in loopback: joins each pair of hosts that streams run between by a link of the
/// sending host's rate, both ends of a memif in one process. Its sockets are files in `folder`,
/// loopback-N.sock. Fails where a host has streams with several others.
tl::expected<config::Topology, std::string> loopback(const config::Topology& topology,
                                                     const std::string& folder);

}  // namespace turnpike::lab
