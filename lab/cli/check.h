// SPDX-License-Identifier: BSD-3-Clause
// Describes as text the processes, links and traffic that a topology would run.
#pragma once

#include <string>

#include "common/config/topology.h"
#include "common/parallel/threads.h"

namespace turnpike::lab {

/// Nodes, links by direction, traffic with its paths, ports, and the commands that would start
/// it; `file` is the topology's name on those command lines.
std::string description(const config::Topology& topology, const std::string& file,
                        const Threads& threads);

}  // namespace turnpike::lab
