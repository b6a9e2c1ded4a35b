// SPDX-License-Identifier: BSD-3-Clause
// From the YAML tree to the typed file, by what describe.h says.
#pragma once

#include "common/config/mistakes.h"
#include "common/config/spec.h"
#include "common/config/yaml_tree.h"

namespace turnpike::config {

/// Reads as much as can be read; what cannot is in `mistakes` and marked wrong in the result.
FileSpec read_file_spec(const YamlNode& root, Mistakes& mistakes);

}  // namespace turnpike::config
