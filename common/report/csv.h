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
  Csv(Csv&&) = default;
  Csv& operator=(Csv&&) = default;

  /// `text`: the whole file, header line first.
  static Csv parse(std::string_view text);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] size_t rows() const { return fields_.size() / columns_.size(); }
  /// Index of a column; std::nullopt if there is none.
  [[nodiscard]] std::optional<size_t> column(std::string_view name) const;
  /// Empty without a column. A view of this object's memory.
  [[nodiscard]] std::string_view text(size_t row, std::optional<size_t> column) const {
    return column ? fields_[row * columns_.size() + *column] : std::string_view();
  }
  /// NaN without a column or if the field is no number.
  [[nodiscard]] double number(size_t row, std::optional<size_t> column) const;

  // The same by name.
  [[nodiscard]] std::string_view text(size_t row, std::string_view name) const {
    return text(row, column(name));
  }
  [[nodiscard]] double number(size_t row, std::string_view name) const {
    return number(row, column(name));
  }

 private:
  Csv() = default;

  std::vector<char> texts_;  // of all fields, one after the other
  std::vector<std::string> columns_;
  std::vector<std::string_view> fields_;  // by row and column
};

/// A field in a line's syntax: quoted if necessary.
std::string csv_field(std::string_view text);
/// A line of fields, with its newline.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace turnpike::report
