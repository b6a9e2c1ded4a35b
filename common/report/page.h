// SPDX-License-Identifier: BSD-3-Clause
// A self-contained HTML page: readable offline, printable, with its data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace turnpike::report {

/// A table's cell: plain text and its style.
struct Cell {
  enum class Look { kText, kNumber, kGood, kBad };  // all but kText are right-aligned
  Cell(std::string t, Look l = Look::kText) : text(std::move(t)), look(l) {}
  Cell(const char* t) : text(t) {}
  std::string text;
  Look look = Look::kText;
};

/// A numeric cell.
inline Cell number(std::string text) { return {std::move(text), Cell::Look::kNumber}; }

/// A row that is shorter than `columns` is the heading of those below: its first cell spans the
/// columns that it lacks.
struct HtmlTable {
  static constexpr size_t kMaxRows = 2000;  // that a page shows, so that browsers open it
  std::string caption = {};
  std::vector<std::string> columns = {};
  std::vector<std::vector<Cell>> rows = {};
};

/// Builds a page from top to bottom. Escapes all text; only figures are markup.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  /// Level 2 or 3; the title has level 1.
  void heading(std::string_view text, int level = 2);
  /// A list of all headings, with links, at this place.
  void contents() { contents_at_ = body_.size(); }
  void paragraph(std::string_view text);
  /// A sentence that says whether the run met its goals.
  void verdict(bool good, std::string_view text);
  /// A figure from svg(), with its caption; two `half` figures share a row.
  void figure(std::string_view svg, std::string_view caption, bool half = false);
  void table(const HtmlTable& table);
  /// Data for other programs: JSON text in a script element with this id.
  void data(std::string_view id, std::string_view json);

  /// The whole page. Apart from its first line it is well-formed XML.
  [[nodiscard]] std::string html() const;

 private:
  std::string title_;
  std::string body_;
  std::string contents_;                    // list items
  size_t contents_at_ = std::string::npos;  // in body_
  size_t headings_ = 0;
};

}  // namespace turnpike::report
