// SPDX-License-Identifier: BSD-3-Clause
// Adds the nodes and links of generated networks to a file.
#pragma once

#include "common/config/mistakes.h"
#include "common/config/spec.h"

namespace turnpike::config {

/// Adds hosts, routers and links of all networks under `generate`, which then are as if the file
/// had named each, and puts a network's hosts in the place of its name in workloads.
void generate(FileSpec& file, Mistakes& mistakes);

}  // namespace turnpike::config
