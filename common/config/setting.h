// SPDX-License-Identifier: BSD-3-Clause
// Puts a value from the command line into a file's tree: links.bottleneck.rate=1 Gbps.
#pragma once

#include "common/config/yaml_tree.h"

namespace turnpike::config {

/// Puts the value at the setting's path, creating missing nodes: a word such as `fcp` becomes {fcp:
/// {...}}. The reader reports unknown keys as in a file. A setting has no position in the file, so
/// that mistakes in it name only the path.
void apply(const Setting& setting, YamlNode& root, Mistakes& mistakes);

}  // namespace turnpike::config
