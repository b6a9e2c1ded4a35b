// SPDX-License-Identifier: BSD-3-Clause
// One self-contained HTML page: opens offline, prints well, carries its data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace turnpike::report {

/// A table's cell: plain text, and how it is to look.
struct Cell {
  enum class Look { kText, kNumber, kGood, kBad };  // all but the first stand to the right
  Cell(std::string t, Look l = Look::kText) : text(std::move(t)), look(l) {}
  Cell(const char* t) : text(t) {}
  std::string text;
  Look look = Look::kText;
};

/// A number as it stands in a cell.
inline Cell number(std::string text) { return {std::move(text), Cell::Look::kNumber}; }

struct HtmlTable {
  std::string caption = {};
  std::vector<std::string> columns = {};
  std::vector<std::vector<Cell>> rows = {};
};

/// Collects a page from top to bottom. Text is escaped; only figures are taken as markup.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  void heading(std::string_view text);
  void paragraph(std::string_view text);
  /// A sentence that says whether things went well.
  void verdict(bool good, std::string_view text);
  /// A figure as svg() makes it, with its caption; `half` figures stand in pairs.
  void figure(std::string_view svg, std::string_view caption, bool half = false);
  void table(const HtmlTable& table);
  /// Data for other programs to read: JSON text in a script element of this id.
  void data(std::string_view id, std::string_view json);

  /// The whole page; apart from its first line it is well-formed XML.
  [[nodiscard]] std::string html() const;

 private:
  std::string title_;
  std::string body_;
};

}  // namespace turnpike::report
