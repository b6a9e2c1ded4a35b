// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/setting.h"

#include <charconv>

namespace turnpike::config {
namespace {

YamlNode* step_into_list(YamlNode& list, std::string_view key) {
  size_t i = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), i);
  const bool good = error == std::errc() && end == key.data() + key.size();
  return good && i < list.items.size() ? &list.items[i] : nullptr;
}

/// The child node at `key`, created if missing; null if `node` can have no such child.
YamlNode* step(YamlNode& node, std::string_view key) {
  if (node.is_sequence()) return step_into_list(node, key);
  if (node.is_scalar() && node.text == key) {
    YamlNode choice;
    choice.kind = YamlNode::Kind::kMap;
    choice.at = node.at;
    node = std::move(choice);
  }
  if (node.is_scalar()) return nullptr;
  node.kind = YamlNode::Kind::kMap;
  for (Entry& e : node.entries)
    if (e.key == key) return &e.value;
  node.entries.push_back({.key = std::string(key), .at = {}, .value = {}});
  return &node.entries.back().value;
}

/// Positions in the value's own text would be mistaken for positions in the file.
void forget_positions(YamlNode& node) {
  node.at = {};
  for (YamlNode& item : node.items) forget_positions(item);
  for (Entry& e : node.entries) {
    e.at = {};
    forget_positions(e.value);
  }
}

}  // namespace

std::optional<Setting> parse_setting(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) return {};
  return Setting{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void apply(const Setting& setting, YamlNode& root, Mistakes& mistakes) {
  Mistakes in_value(setting.value);
  std::optional<YamlNode> value = parse_yaml(setting.value, in_value);
  if (!value || !in_value.empty()) {
    const auto found = in_value.sorted();
    mistakes.add({}, setting.path,
                 "'" + setting.value + "': " + (found.empty() ? "no YAML" : found[0].message));
    return;
  }
  forget_positions(*value);

  YamlNode* node = &root;
  std::string_view left = setting.path;
  while (!left.empty()) {
    const size_t dot = std::min(left.find('.'), left.size());
    const std::string_view key = left.substr(0, dot);
    left.remove_prefix(std::min(dot + 1, left.size()));
    node = step(*node, key);
    if (node == nullptr) {
      mistakes.add({}, setting.path, "there is no '" + std::string(key) + "' to set");
      return;
    }
  }
  *node = std::move(*value);
}

}  // namespace turnpike::config
