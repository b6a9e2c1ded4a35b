// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/values.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

namespace turnpike::lab {
double value_at(const nlohmann::json& tree, std::string_view path) {
  const auto values = values_at(tree, path);
  return values.empty() ? kNan : values[0];
}

std::vector<double> values_at(const nlohmann::json& tree, std::string_view path) {
  if (!tree.is_object()) return {};
  std::vector<double> found;
  for (size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
    const bool last = dot == std::string_view::npos;
    const std::string key(path.substr(0, dot));
    for (const auto& [name, value] : tree.items()) {
      if (key != "*" && key != name) continue;
      if (last && value.is_number()) found.push_back(value.get<double>());
      if (last) continue;
      const auto below = values_at(value, path.substr(dot + 1));
      found.insert(found.end(), below.begin(), below.end());
    }
    if (last || !found.empty()) return found;
  }
}

Statistics statistics(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.empty()) return {kNan, kNan, kNan};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back(), n};
}

}  // namespace turnpike::lab
