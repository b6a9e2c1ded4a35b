// SPDX-License-Identifier: BSD-3-Clause
// Settings with several values each, and all their combinations.
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

/// Splits "a,b,{c: [1, 2]}" at the commas outside brackets, braces and quotes, and trims blanks
/// around the parts.
std::vector<std::string> split_values(std::string_view text);

/// Parses "links.bottleneck.rate=10 Mbps,1 Gbps"; nothing where the path or a value is empty.
std::optional<Axis> parse_axis(std::string_view text);

/// Parses "1..8", "3", "1,5,7..9"; nothing for other texts and for more than 10000 seeds.
std::optional<std::vector<uint64_t>> parse_seeds(std::string_view text);

/// All combinations of one value per axis; the last axis changes fastest. Without axes one empty
/// combination.
std::vector<std::vector<config::Setting>> combinations(std::span<const Axis> axes);

}  // namespace turnpike::lab
