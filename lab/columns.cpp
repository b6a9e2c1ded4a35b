// SPDX-License-Identifier: BSD-3-Clause
#include "lab/columns.h"

#include <algorithm>

namespace turnpike::lab {
namespace {

/// Characters of UTF-8: bytes that do not continue one.
size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string columns(const std::vector<std::vector<std::string>>& rows, size_t words) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      line += "  " + (i < words ? row[i] + space : space + row[i]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace turnpike::lab
