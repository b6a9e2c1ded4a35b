// SPDX-License-Identifier: BSD-3-Clause
// Settings that take several values in turn, and all their combinations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/load.h"

namespace turnpike::lab {

struct Axis {
  std::string path;
  std::vector<std::string> values;  // at least one
};

/// "a,b,{c: [1, 2]}" at the commas that stand outside brackets, braces and quotes; blanks around
/// the parts are cut.
std::vector<std::string> split_values(std::string_view text);

/// "links.bottleneck.rate=10 Mbps,1 Gbps"; nothing where there is no path or a value is empty.
std::optional<Axis> parse_axis(std::string_view text);

/// "1..8", "3", "1,5,7..9"; nothing where it is not that, or more than 10000.
std::optional<std::vector<uint64_t>> parse_seeds(std::string_view text);

/// Every choice of one value per axis; the last axis changes fastest. One empty choice without
/// axes.
std::vector<std::vector<config::Setting>> combinations(std::span<const Axis> axes);

}  // namespace turnpike::lab
