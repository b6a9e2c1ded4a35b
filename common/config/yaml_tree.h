// SPDX-License-Identifier: BSD-3-Clause
// A YAML document as a plain tree with the position of each piece in the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/mistakes.h"

namespace turnpike::config {

struct Entry;

/// One value: null, a scalar, a sequence or a map. Aliases are copies of their anchors' values.
struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kSequence, kMap };
  Kind kind = Kind::kNull;
  Position at;
  std::string text;             // of a scalar
  bool quoted = false;          // a scalar in quotes: a string, never a number
  std::vector<YamlNode> items;  // of a sequence
  std::vector<Entry> entries;   // of a map, in file order, each key once

  /// The entry of a map with this key; null if there is none.
  [[nodiscard]] const Entry* find(std::string_view key) const;
  [[nodiscard]] bool is_map() const { return kind == Kind::kMap; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::kSequence; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }
};

struct Entry {
  std::string key;
  Position at;  // of the key
  YamlNode value;
};

/// Limits beyond which a document is refused, against hostile files. A file of 12,000 links, or one
/// of 50,000 values that relies on defaults, has room to write all of them.
inline constexpr size_t kMaxFileBytes = 32 << 20;
inline constexpr size_t kMaxNodes =
    2'000'000;  // aliases count as copies, each 64 B of a scalar as a node
inline constexpr size_t kMaxDepth = 32;
inline constexpr size_t kMaxKeyBytes = 256;

/// Reads the one document in `text`. std::nullopt after syntax errors and exceeded limits.
/// Duplicate keys are mistakes, but the tree, with the first of each, is returned.
std::optional<YamlNode> parse_yaml(const std::string& text, Mistakes& mistakes);

}  // namespace turnpike::config
