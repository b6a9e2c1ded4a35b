// SPDX-License-Identifier: BSD-3-Clause
// What was played, in the run's folder, so that the folder alone is enough to play it again.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::lab {

/// Writes resolved.yaml and copies the traces of workloads beside it. Copies that are there already
/// are not touched: the topology may have come from this very folder.
tl::expected<void, std::string> write_resolved(const config::Topology& topology,
                                               const std::string& folder);

}  // namespace turnpike::lab
