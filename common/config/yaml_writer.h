// SPDX-License-Identifier: BSD-3-Clause
// Writes YAML in block style, key by key; it reads back as the same values.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace turnpike::config {

/// Any text as a YAML string, in double quotes.
std::string in_quotes(std::string_view text);
/// A name, in quotes only if YAML would read it as another type.
std::string plain(std::string_view name);
std::string truth(bool value);
/// The shortest number that reads back as the same double.
std::string number(double value);
/// Values as a list in one line.
std::string listed(std::span<const std::string> values);

/// One entry of a map; key and value in YAML's syntax.
struct YamlPair {
  std::string key, value;
};
/// Entries as a map in one line.
std::string mapped(std::span<const YamlPair> entries);
std::string mapped(std::initializer_list<YamlPair> entries);

/// Collects a document from top to bottom.
class YamlWriter {
 public:
  /// An entry of the innermost open map.
  void put(std::string_view key, std::string_view value) {
    line(key) += " " + std::string(value) + '\n';
  }
  /// An entry that is a map, which `body` fills.
  template <class Body>
  void map(std::string_view key, const Body& body) {
    line(key) += '\n';
    ++depth_;
    body();
    --depth_;
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string& line(std::string_view key) {
    return text_.append(2 * depth_, ' ').append(key).append(":");
  }

  std::string text_;
  size_t depth_ = 0;
};

}  // namespace turnpike::config
