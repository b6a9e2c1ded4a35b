// SPDX-License-Identifier: BSD-3-Clause
// Plays a world and records it as the real programs record a run.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "lab/simulator/world.h"

namespace turnpike::lab {

/// Plays a world until `end`: at once, or at the speed of real time.
using Play = std::function<void(Nanos end, World& world)>;

/// Plays the topology from beginning to end and writes to `folder` the files that turnpike-router
/// and turnpike-sender write; results of an earlier run in it are removed first. EAL must be up.
/// Returns the summary. The error names an entry that cannot be played, a file that cannot be
/// written, counters that do not add up, or a host that exceeded its budget (the first one; the
/// files are written then).
tl::expected<nlohmann::json, std::string> run_world(const config::Topology& topology,
                                                    const std::string& folder,
                                                    const World::Options& options,
                                                    const Play& play);

}  // namespace turnpike::lab
