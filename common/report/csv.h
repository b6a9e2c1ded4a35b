// SPDX-License-Identifier: BSD-3-Clause
// Comma-separated values with a header line, read and written (RFC 4180 quoting).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace turnpike::report {

/// A parsed file. Skips lines with fewer or more fields than the header: a file that is being
/// written may end in half a line.
class Csv {
 public:
  /// `text`: the whole file, header line first.
  static Csv parse(std::string_view text);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] size_t rows() const { return rows_.size(); }
  /// Index of a column; std::nullopt if there is none.
  [[nodiscard]] std::optional<size_t> column(std::string_view name) const;
  /// Empty without such a column.
  [[nodiscard]] std::string_view text(size_t row, std::string_view name) const;
  /// NaN without such a column or if the field is no number.
  [[nodiscard]] double number(size_t row, std::string_view name) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A field in a line's syntax: quoted if necessary.
std::string csv_field(std::string_view text);
/// A line of fields, with its newline.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace turnpike::report
