// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/csv.h"

#include <charconv>
#include <limits>

namespace turnpike::report {
namespace {

/// Takes one line off the front of `text`. Writes the text of its fields to `out`, which it moves
/// behind them, and appends them to `fields`.
void take_line(std::string_view& text, char*& out, std::vector<std::string_view>& fields) {
  bool quoted = false;
  const char* field = out;
  const auto end_field = [&] {
    fields.emplace_back(field, static_cast<size_t>(out - field));
    field = out;
  };
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (quoted) {
      if (c != '"')
        *out++ = c;
      else if (!text.empty() && text.front() == '"')
        *out++ = c, text.remove_prefix(1);
      else
        quoted = false;
    } else if (c == '"' && out == field) {
      quoted = true;
    } else if (c == ',') {
      end_field();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      *out++ = c;
    }
  }
  end_field();
}

}  // namespace

Csv Csv::parse(std::string_view text) {
  Csv csv;
  csv.texts_.resize(text.size());
  char* out = csv.texts_.data();
  std::vector<std::string_view> header;
  take_line(text, out, header);
  csv.columns_.assign(header.begin(), header.end());
  while (!text.empty()) {
    const size_t before = csv.fields_.size();
    take_line(text, out, csv.fields_);
    if (csv.fields_.size() - before != csv.columns_.size()) csv.fields_.resize(before);
  }
  return csv;
}

std::optional<size_t> Csv::column(std::string_view name) const {
  for (size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i] == name) return i;
  return {};
}

double Csv::number(size_t row, std::optional<size_t> column) const {
  const std::string_view field = text(row, column);
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
