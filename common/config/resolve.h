// SPDX-License-Identifier: BSD-3-Clause
// A topology as a file that says everything, so that it means the same whatever defaults become.
#pragma once

#include <string>

#include "common/config/topology.h"

namespace turnpike::config {

/// YAML of which load_text() makes this very topology, which it has made before. Traces keep the
/// paths that they have.
std::string resolved_text(const Topology& topology);

}  // namespace turnpike::config
