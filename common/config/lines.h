// SPDX-License-Identifier: BSD-3-Clause
// Splits a text into lines, and lines into pieces with their columns.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace turnpike::config {

/// Takes one line after the other off a text, without line ends. Counts from 1.
class Lines {
 public:
  explicit Lines(std::string_view text) : left_(text) {}

  /// The next line, a view of the text; std::nullopt after the last.
  std::optional<std::string_view> next() {
    if (left_.empty()) return {};
    ++number_;
    const size_t end = std::min(left_.find('\n'), left_.size());
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return line;
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::string_view left_;
  int number_ = 0;
};

/// `text` in blocks of whole lines, of about `bytes` each, which threads can read at the same time.
inline std::vector<std::string_view> line_blocks(std::string_view text, size_t bytes) {
  std::vector<std::string_view> blocks;
  while (!text.empty()) {
    const size_t end = text.size() > bytes ? text.find('\n', bytes) : std::string_view::npos;
    const size_t length = end == std::string_view::npos ? text.size() : end + 1;
    blocks.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return blocks;
}

inline constexpr std::string_view kBlank = " \t\r";

/// `s` without blanks around it.
inline std::string_view trim(std::string_view s) {
  const size_t begin = s.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return s.substr(s.size());
  return s.substr(begin, s.find_last_not_of(kBlank) - begin + 1);
}

/// Takes the first word and the blanks around it off `text`.
inline std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const std::string_view word = text.substr(0, std::min(text.find_first_of(kBlank), text.size()));
  text = trim(text.substr(word.size()));
  return word;
}

/// The beginning of `s` in quotes, for messages.
inline std::string excerpt(std::string_view s) {
  constexpr size_t kMaxBytes = 60;
  return "'" + std::string(s.substr(0, kMaxBytes)) + "'";
}

/// A mistake in a line and the part of the line at fault. Empty message: no mistake.
struct LineError {
  std::string message;
  std::string_view part;
};

/// Column in `line`, from 1, of `part`, which is a view of a piece of it.
inline int column_of(std::string_view part, std::string_view line) {
  return static_cast<int>(part.data() - line.data()) + 1;
}

}  // namespace turnpike::config
