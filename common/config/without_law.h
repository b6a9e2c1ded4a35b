// SPDX-License-Identifier: BSD-3-Clause
// Finds traffic that no link controls: a common slip of topology files, legal and rarely meant.
#pragma once

#include <string>
#include <vector>

#include "common/config/topology.h"

namespace turnpike::config {

/// Names of flows and workloads whose packets cross no link with a law of their protocol, though
/// the protocol depends on one: they send as fast as their first link. Of a workload, looks at the
/// paths of its first sender and of its first receiver only.
std::vector<std::string> without_law(const Topology& topology);

}  // namespace turnpike::config
