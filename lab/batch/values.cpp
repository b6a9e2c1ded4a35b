// SPDX-License-Identifier: BSD-3-Clause
#include "lab/batch/values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

namespace turnpike::lab {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double value_at(const nlohmann::json& tree, std::string_view path) {
  if (!tree.is_object()) return kNan;
  for (size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
    const bool last = dot == std::string_view::npos;
    const auto found = tree.find(std::string(path.substr(0, dot)));
    if (found != tree.end() && last) return found->is_number() ? found->get<double>() : kNan;
    if (last) return kNan;
    if (found == tree.end()) continue;
    if (const double v = value_at(*found, path.substr(dot + 1)); !std::isnan(v)) return v;
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
