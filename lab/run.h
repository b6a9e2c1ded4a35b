// SPDX-License-Identifier: BSD-3-Clause
// One run of a world, recorded as real programs record theirs.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::lab {

/// Is told how far the run has come and answers how many seconds it has taken so far.
using Progress = std::function<double(Nanos now)>;

/// Plays the topology from beginning to end and leaves in `folder` what turnpike-router and
/// turnpike-sender leave together. EAL must be up. Returns the summary; the error says what could
/// not be played or written, or what did not add up.
tl::expected<nlohmann::json, std::string> run_world(const config::Topology& topology,
                                                    const std::string& folder,
                                                    const Progress& progress);

/// EAL memory for a world, MB.
unsigned memory_mb(const config::Topology& topology);

}  // namespace turnpike::lab
