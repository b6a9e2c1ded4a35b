// SPDX-License-Identifier: BSD-3-Clause
// From a YAML file to a Topology, or to every mistake in it.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::config {

/// One mistake; line and column count from 1, 0 where the file itself could not be read.
struct Mistake {
  std::string file;
  int line = 0, column = 0;
  std::string path;     // where in the tree: links.bottleneck.rate
  std::string message;  // what is wrong, and the nearest right spelling where there is one

  [[nodiscard]] std::string text() const;  // file:line:column: path: message
};

using Loaded = tl::expected<Topology, std::vector<Mistake>>;

/// Reads, checks and completes a topology. Mistakes come in file order, all at once.
Loaded load_file(const std::string& path);
/// The same for text that is in memory; `name` stands for the file in mistakes.
Loaded load_text(const std::string& text, const std::string& name);

}  // namespace turnpike::config
