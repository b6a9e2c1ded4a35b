// SPDX-License-Identifier: BSD-3-Clause
// Collects every mistake of a file, so that all can be told at once.
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
  /// Beyond this many nobody reads on, and a hostile file must not fill the memory.
  static constexpr size_t kMax = 1000;

  explicit Mistakes(std::string file) : file_(std::move(file)) {}

  void add(Position at, std::string path, std::string message);
  /// One in another file, which the topology names.
  void add(Mistake mistake);
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] bool full() const { return list_.size() >= kMax; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// In file order, each once; those of other files last.
  [[nodiscard]] std::vector<Mistake> sorted() const;

 private:
  std::string file_;
  std::vector<Mistake> list_;
};

/// A dotted path one step further down.
std::string join(std::string_view path, std::string_view key);

/// The candidate that differs from `word` by the fewest single-letter edits (a swap of neighbours
/// is one), if it is near enough to be a slip of the pen; empty otherwise.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// " (did you mean 'x'?)", or the list of what there is where it is short, or nothing.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace turnpike::config
