// SPDX-License-Identifier: BSD-3-Clause
// A topology as a list of values with their paths, to compare two of them key by key.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"

namespace turnpike::router {

/// A value of a topology: every key of the file, those that load() filled in, and contents of files
/// that the topology names. Values of a link are by direction, "links.core.forward.rate"; a route
/// has its prefix as a key.
struct Leaf {
  std::vector<std::string> keys;
  std::string text;
};

/// Key of the order of a link's classes, which is a leaf of its own.
inline constexpr const char* kOrderKey = "(order)";

/// "links.core.forward.rate".
std::string path_of(const std::vector<std::string>& keys);

/// All values in the order of resolved_text(), from which they come: a key that is there cannot be
/// forgotten here. The error: the topology is larger than a file may be.
tl::expected<std::vector<Leaf>, std::string> leaves_of(const config::Topology& topology);

}  // namespace turnpike::router
