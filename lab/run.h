// SPDX-License-Identifier: BSD-3-Clause
// One run of a world, recorded as real programs record theirs.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "lab/simulator/world.h"

namespace turnpike::lab {

/// Plays a world until then: at once, or as real time passes.
using Play = std::function<void(Nanos end, World& world)>;

/// Plays the topology from beginning to end and leaves in `folder` what turnpike-router and
/// turnpike-sender leave together. EAL must be up. Returns the summary; the error says what could
/// not be played or written, or what did not add up.
tl::expected<nlohmann::json, std::string> run_world(const config::Topology& topology,
                                                    const std::string& folder,
                                                    const World::Options& options,
                                                    const Play& play);

}  // namespace turnpike::lab
