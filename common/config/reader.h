// SPDX-License-Identifier: BSD-3-Clause
// From the YAML tree to the typed file, by the descriptions in describe.h.
#pragma once

#include "common/config/mistakes.h"
#include "common/config/spec.h"
#include "common/config/yaml_tree.h"

namespace turnpike::config {

/// Reads all that can be read; adds the rest to `mistakes` and marks it wrong in the result.
FileSpec read_file_spec(const YamlNode& root, Mistakes& mistakes);

/// As read from a map without a key, for what no file names.
RouterSpec default_router();
LinkSpec default_link();

}  // namespace turnpike::config
