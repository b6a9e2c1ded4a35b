// SPDX-License-Identifier: BSD-3-Clause
// Records a run's input in its folder, so that the folder alone is enough to repeat the run.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::lab {

/// Writes resolved.yaml and copies the traces of workloads beside it. Existing copies stay, since
/// the topology may have come from this very folder.
tl::expected<void, std::string> write_resolved(const config::Topology& topology,
                                               const std::string& folder);

}  // namespace turnpike::lab
