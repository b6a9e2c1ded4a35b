// SPDX-License-Identifier: BSD-3-Clause
// The networks that trials are played on, made from the one in the file.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::lab {

/// The file's network with its streams alone, each at that share of its rate, for so long.
config::Topology at_share(const config::Topology& topology, double share, Nanos duration);

/// The generator against itself: each pair of hosts that streams run between joined by a link of
/// the sending host's rate, both ends of a memif in the one process that plays them. Its sockets
/// are files in `folder`, loopback-N.sock. The error says why that cannot be: a host has streams
/// with several others.
tl::expected<config::Topology, std::string> loopback(const config::Topology& topology,
                                                     const std::string& folder);

}  // namespace turnpike::lab
