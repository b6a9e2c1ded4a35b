// SPDX-License-Identifier: BSD-3-Clause
// Reads a map of a YAML file key by key; a key that the caller never asks for is a mistake.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/yaml_tree.h"

namespace turnpike::lab {

class Keys {
 public:
  /// If `node` is no map, reports a mistake and acts as an empty map.
  Keys(const config::YamlNode& node, std::string path, config::Mistakes& mistakes);
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  /// Reports every key that the caller did not ask for.
  ~Keys();

  /// Null where the map has no such key.
  const config::YamlNode* find(std::string_view key);
  bool has(std::string_view key) { return find(key) != nullptr; }

  std::string text(std::string_view key, std::string fallback = "");
  std::string need_text(std::string_view key);
  double number(std::string_view key, double fallback);
  double need_number(std::string_view key);
  bool flag(std::string_view key);
  /// One value or a list of them.
  std::vector<std::string> texts(std::string_view key);
  std::vector<double> numbers(std::string_view key);
  /// Index of the word in `words`; 0 where the key is missing.
  size_t word(std::string_view key, const std::vector<std::string_view>& words);
  /// The one of `choices` that the map has; reports a mistake if it has none or several.
  std::string_view one_of(const std::vector<std::string_view>& choices);

  using Each = std::function<void(const std::string& name, const config::YamlNode& node,
                                  const std::string& path)>;
  /// Every entry of the map, or item of the list (whose name is empty), at `key`.
  void each(std::string_view key, const Each& call);

  void complain(std::string_view key, std::string message);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] config::Mistakes& mistakes() { return mistakes_; }

 private:
  double number_of(const config::YamlNode& node, std::string_view key);

  const config::YamlNode& node_;
  std::string path_;
  config::Mistakes& mistakes_;
  std::vector<std::string_view> asked_;
};

}  // namespace turnpike::lab
