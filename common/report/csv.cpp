// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/csv.h"

#include <charconv>
#include <limits>

namespace turnpike::report {
namespace {

/// Takes one line off the front of `text`; returns its fields.
std::vector<std::string> take_line(std::string_view& text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (quoted) {
      if (c != '"')
        fields.back() += c;
      else if (!text.empty() && text.front() == '"')
        fields.back() += c, text.remove_prefix(1);
      else
        quoted = false;
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

Csv Csv::parse(std::string_view text) {
  Csv csv;
  csv.columns_ = take_line(text);
  while (!text.empty()) {
    auto fields = take_line(text);
    if (fields.size() == csv.columns_.size()) csv.rows_.push_back(std::move(fields));
  }
  return csv;
}

std::optional<size_t> Csv::column(std::string_view name) const {
  for (size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i] == name) return i;
  return {};
}

std::string_view Csv::text(size_t row, std::string_view name) const {
  const auto i = column(name);
  return i ? std::string_view(rows_[row][*i]) : std::string_view();
}

double Csv::number(size_t row, std::string_view name) const {
  const std::string_view field = text(row, name);
  double v = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), v);
  const bool whole = error == std::errc() && end == field.data() + field.size();
  return whole ? v : std::numeric_limits<double>::quiet_NaN();
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& f : fields) line += csv_field(f) + ",";
  if (!line.empty()) line.pop_back();
  return line + "\n";
}

}  // namespace turnpike::report
