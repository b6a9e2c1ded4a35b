// SPDX-License-Identifier: BSD-3-Clause
// Sorts mistakes, and finds the nearest correct spelling by edit distance.
#include "common/config/mistakes.h"

#include <algorithm>
#include <tuple>

#include "common/units/printable.h"

namespace turnpike::config {
namespace {

constexpr size_t kMaxSlips = 3;
// Longest parts of a message, B.
constexpr size_t kMaxOfAPath = 4096, kMaxOfAKey = 400, kMaxOfAMessage = 1000;

// Optimal string alignment distance, row by row. Words of more than 64 letters count as far apart.
// Returns early, with a number of at least `limit`, once the distance must reach it.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  constexpr size_t kMaxLength = 64;
  if (a.size() > kMaxLength || b.size() > kMaxLength) return kMaxLength;
  size_t rows[3][kMaxLength + 1] = {};
  size_t *before = rows[0], *previous = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = before[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    // Later rows derive from this row and the one before: none of their entries is smaller.
    const auto least = [&](const size_t* r) { return *std::min_element(r, r + b.size() + 1); };
    if (least(row) >= limit && least(previous) >= limit) return limit;
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

}  // namespace

std::string Mistake::text() const {
  // Path, key and message may hold text from an untrusted file.
  std::string out = printable(file, kMaxOfAPath) + ":";
  if (line > 0) out += std::to_string(line) + ":" + std::to_string(column) + ":";
  out += " ";
  if (!path.empty()) out += printable(path, kMaxOfAKey) + ": ";
  return out + printable(message, kMaxOfAMessage);
}

void Mistakes::add(Position at, std::string path, std::string message) {
  add({file_, at.line, at.column, std::move(path), std::move(message)});
}

void Mistakes::add(Mistake mistake) {
  if (!full()) list_.push_back(std::move(mistake));
}

std::vector<Mistake> Mistakes::sorted() const {
  const auto key = [&](const Mistake& m) {
    return std::tuple(m.file != file_, std::tie(m.file, m.line, m.column, m.path, m.message));
  };
  std::vector<Mistake> out = list_;
  std::stable_sort(out.begin(), out.end(),
                   [&](const Mistake& a, const Mistake& b) { return key(a) < key(b); });
  out.erase(std::unique(out.begin(), out.end(),
                        [&](const Mistake& a, const Mistake& b) { return key(a) == key(b); }),
            out.end());
  return out;
}

std::string join(std::string_view path, std::string_view key) {
  std::string out(path);
  if (!out.empty()) out += '.';
  return out += key;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  // A valid network has fewer names. Bounds the time spent on a hostile file.
  if (candidates.size() > 4096) return best;
  // At most one edit per three letters: 'a' does not suggest 'b', nor 'law' 'mtu'.
  size_t least = std::min<size_t>(word.size() / 3, kMaxSlips) + 1;
  for (const std::string_view c : candidates) {
    const size_t difference =
        c.size() > word.size() ? c.size() - word.size() : word.size() - c.size();
    if (difference >= least || c == word) continue;
    if (const size_t d = edit_distance(word, c, least); d < least) {
      least = d;
      best = c;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kShort = 12;
  if (const auto near = nearest(word, candidates); !near.empty())
    return " (did you mean '" + std::string(near) + "'?)";
  if (candidates.empty() || candidates.size() > kShort) return {};
  std::string out = " (there is ";
  for (size_t i = 0; i < candidates.size(); ++i)
    out += (i == 0 ? "" : ", ") + std::string(candidates[i]);
  return out + ")";
}

}  // namespace turnpike::config
