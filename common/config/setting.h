// SPDX-License-Identifier: BSD-3-Clause
// Puts a value that was given by hand into a file's tree: links.bottleneck.rate=1 Gbps.
#pragma once

#include "common/config/yaml_tree.h"

namespace turnpike::config {

/// Puts the value where the path leads and makes what is missing on the way: a word such as `fcp`
/// becomes {fcp: {...}}. What nobody knows is then found as in a file. What a setting brings has no
/// place in the file: mistakes in it name their path alone.
void apply(const Setting& setting, YamlNode& root, Mistakes& mistakes);

}  // namespace turnpike::config
