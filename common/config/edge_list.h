// SPDX-License-Identifier: BSD-3-Clause
// Lists of links between autonomous systems (AS), in the format of CAIDA's "AS Relationships":
// `A|B|-1`, A is a provider of B; `A|B|0`, they are peers; lines that begin with `#` are comments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/mistakes.h"

namespace turnpike::config {

struct AsEdge {
  uint32_t from = 0, to = 0;  // numbers of AS; `from` is the provider, or the first peer
  bool peers = false;
};

/// The edges of a list, at most `most`. Serial 1 and 2 are accepted: the source of a relationship,
/// which serial 2 appends, is ignored. Adds a mistake for each wrong line; `name`: the file's, for
/// mistakes; `path`: the key that names it.
std::vector<AsEdge> parse_edge_list(std::string_view text, const std::string& name,
                                    const std::string& path, size_t most, Mistakes& mistakes);

}  // namespace turnpike::config
