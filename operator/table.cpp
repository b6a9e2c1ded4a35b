// SPDX-License-Identifier: BSD-3-Clause
#include "operator/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "common/units/printable.h"

namespace turnpike::ops {

namespace {

constexpr size_t kMaxText = 200;  // bytes of a value

/// A number with at most `digits` significant digits.
std::string short_number(double v, int digits) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%.*g", digits, v);
  return out.data();
}

/// A number with a prefix of the SI, so that at most four digits stand before the point.
std::string scaled(double v, const char* unit, double from) {
  static constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  const double sized = std::abs(v);
  if (sized >= from)
    while (prefix + 1 < kPrefixes.size() && std::abs(v) >= 1000) {
      v /= 1000;
      ++prefix;
    }
  const std::string number = prefix == 0 ? short_number(v, 6) : short_number(v, 4);
  const std::string suffix = std::string(kPrefixes[prefix]) + unit;
  return suffix.empty() ? number : number + " " + suffix;
}

}  // namespace

std::string value_text(const Json& value, Format format) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return printable(value.get<std::string>(), kMaxText);
  if (!value.is_number()) return printable(value.dump(), kMaxText);
  const double v = value.get<double>();
  switch (format) {
    case Format::kCount:
      return scaled(v, "", 10'000);
    case Format::kBytes:
      return scaled(v, "B", 1000);
    case Format::kRate:
      return scaled(v, "bps", 1000);
    case Format::kShare:
      return short_number(std::round(v * 1000) / 10, 4) + " %";
    case Format::kNumber:
      return short_number(v, 4);
    case Format::kText:
    case Format::kFlag:
      break;
  }
  return value.dump();
}

std::string table_text(const std::vector<Column>& columns, const Json& rows) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& c : columns) lines[0].emplace_back(c.title);
  for (const Json& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Column& c : columns) {
      const auto at = row.find(c.key);
      line.push_back(at == row.end() ? "-" : value_text(*at, c.format));
    }
  }
  std::vector<size_t> widths(columns.size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    std::string out;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string pad(widths[i] - line[i].size(), ' ');
      const bool right = columns[i].format != Format::kText && columns[i].format != Format::kFlag;
      out += (i == 0 ? "" : "  ") + (right ? pad + line[i] : line[i] + pad);
    }
    text += out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace turnpike::ops
