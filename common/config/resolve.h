// SPDX-License-Identifier: BSD-3-Clause
// Writes a topology as a file with all values, so that its meaning does not depend on defaults.
#pragma once

#include <string>

#include "common/config/topology.h"

namespace turnpike::config {

/// YAML from which load_text() makes an equal topology. `topology` must come from load_text() or
/// load_file(). Paths of traces stay as they are.
std::string resolved_text(const Topology& topology);

}  // namespace turnpike::config
