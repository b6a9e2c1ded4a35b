// SPDX-License-Identifier: BSD-3-Clause
// The lines of a text, and pieces of a line with their columns.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace turnpike::config {

/// Takes lines off a text, one after the other, without their ends. Counts from 1.
class Lines {
 public:
  explicit Lines(std::string_view text) : left_(text) {}

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

inline constexpr std::string_view kBlank = " \t\r";

/// `s` without blanks around it.
inline std::string_view trim(std::string_view s) {
  const size_t begin = s.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return s.substr(s.size());
  return s.substr(begin, s.find_last_not_of(kBlank) - begin + 1);
}

/// The beginning of `s` in quotes, for messages.
inline std::string excerpt(std::string_view s) {
  constexpr size_t kMaxBytes = 60;
  return "'" + std::string(s.substr(0, kMaxBytes)) + "'";
}

/// What is wrong with a line and with which part of it; no message: nothing is.
struct LineError {
  std::string message;
  std::string_view part;
};

/// Where `part`, a view of a piece of `line`, begins, from 1.
inline int column_of(std::string_view part, std::string_view line) {
  return static_cast<int>(part.data() - line.data()) + 1;
}

}  // namespace turnpike::config
