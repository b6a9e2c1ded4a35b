// SPDX-License-Identifier: BSD-3-Clause
#include "lab/columns.h"

#include <algorithm>

namespace turnpike::lab {

std::string columns(const std::vector<std::vector<std::string>>& rows, size_t left) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      out += "  " + (i < left ? row[i] + space : space + row[i]);
    }
    out += "\n";
  }
  return out;
}

}  // namespace turnpike::lab
