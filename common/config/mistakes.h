// SPDX-License-Identifier: BSD-3-Clause
// Collects all mistakes of a file.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/load.h"

namespace turnpike::config {

/// A place in the file; line and column count from 1.
struct Position {
  int line = 0, column = 0;
  auto operator<=>(const Position&) const = default;
};

class Mistakes {
 public:
  /// Further mistakes are not kept: a hostile file must not fill the memory.
  static constexpr size_t kMax = 1000;

  explicit Mistakes(std::string file) : file_(std::move(file)) {}

  /// A mistake in this file. Ignored if full().
  void add(Position at, std::string path, std::string message);
  /// A mistake in another file, which the topology names.
  void add(Mistake mistake);
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] bool full() const { return list_.size() >= kMax; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// In file order, without duplicates; mistakes in other files last.
  [[nodiscard]] std::vector<Mistake> sorted() const;

 private:
  std::string file_;
  std::vector<Mistake> list_;
};

/// Appends a key to a dotted path.
std::string join(std::string_view path, std::string_view key);

/// The candidate with the fewest single-letter edits from `word` (a swap of neighbours is one
/// edit), if they are few enough for a misspelling; empty otherwise.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// " (did you mean 'x'?)", or the list of candidates if it is short, or "".
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace turnpike::config
