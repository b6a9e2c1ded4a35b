// SPDX-License-Identifier: BSD-3-Clause
// Reads figures from summaries, and computes statistics over several of them.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace turnpike::lab {

/// Value of a figure that is absent from the summary.
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The number at a path of keys joined by dots; keys may hold dots themselves. NaN where there is
/// none.
double value_at(const nlohmann::json& tree, std::string_view path);
/// All numbers that the path leads to: a key * stands for every key there.
std::vector<double> values_at(const nlohmann::json& tree, std::string_view path);

/// Of the values that are numbers; NaN where there are none.
struct Statistics {
  double median, min, max;
  size_t count = 0;
};
Statistics statistics(std::vector<double> values);

}  // namespace turnpike::lab
