// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/keys.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace turnpike::lab {

using config::Entry;
using config::YamlNode;

Keys::Keys(const YamlNode& node, std::string path, config::Mistakes& mistakes)
    : node_(node), path_(std::move(path)), mistakes_(mistakes) {
  if (!node.is_map() && node.kind != YamlNode::Kind::kNull)
    mistakes_.add(node.at, path_, "must be a map: {key: value, ...}");
}

Keys::~Keys() {
  for (const Entry& e : node_.entries)
    if (std::find(asked_.begin(), asked_.end(), e.key) == asked_.end())
      mistakes_.add(e.at, config::join(path_, e.key),
                    "unknown key" + config::suggestion(e.key, asked_));
}

const YamlNode* Keys::find(std::string_view key) {
  asked_.push_back(key);
  const Entry* entry = node_.find(key);
  return entry ? &entry->value : nullptr;
}

void Keys::complain(std::string_view key, std::string message) {
  const Entry* entry = node_.find(key);
  mistakes_.add(entry ? entry->value.at : node_.at, key.empty() ? path_ : config::join(path_, key),
                std::move(message));
}

std::string Keys::text(std::string_view key, std::string fallback) {
  const YamlNode* node = find(key);
  if (!node) return fallback;
  if (!node->is_scalar()) complain(key, "must be a single value");
  return node->text;
}

std::string Keys::need_text(std::string_view key) {
  if (!has(key)) complain("", "missing key '" + std::string(key) + "'");
  return text(key);
}

double Keys::number_of(const YamlNode& node, std::string_view key) {
  double v = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [at, error] = std::from_chars(node.text.data(), end, v);
  if (!node.is_scalar() || error != std::errc() || at != end || !std::isfinite(v)) {
    complain(key, "'" + node.text + "' is no number");
    return 0;
  }
  return v;
}

double Keys::number(std::string_view key, double fallback) {
  const YamlNode* node = find(key);
  return node ? number_of(*node, key) : fallback;
}

double Keys::need_number(std::string_view key) {
  if (!has(key)) complain("", "missing key '" + std::string(key) + "'");
  return number(key, 0);
}

bool Keys::flag(std::string_view key) {
  const std::string value = text(key, "false");
  if (value != "true" && value != "false") complain(key, "must be true or false");
  return value == "true";
}

std::vector<std::string> Keys::texts(std::string_view key) {
  const YamlNode* node = find(key);
  if (!node) return {};
  if (node->is_scalar()) return {node->text};
  std::vector<std::string> all;
  for (const YamlNode& item : node->items) {
    if (!item.is_scalar()) complain(key, "must list single values");
    all.push_back(item.text);
  }
  if (all.empty()) complain(key, "must be a value or a list of values");
  return all;
}

std::vector<double> Keys::numbers(std::string_view key) {
  const YamlNode* node = find(key);
  if (!node) return {};
  if (node->is_scalar()) return {number_of(*node, key)};
  std::vector<double> all;
  for (const YamlNode& item : node->items) all.push_back(number_of(item, key));
  if (all.empty()) complain(key, "must be a number or a list of numbers");
  return all;
}

size_t Keys::word(std::string_view key, const std::vector<std::string_view>& words) {
  const YamlNode* node = find(key);
  if (!node) return 0;
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  complain(key,
           "'" + node->text + "' is none of its words" + config::suggestion(node->text, words));
  return 0;
}

std::string_view Keys::one_of(const std::vector<std::string_view>& choices) {
  std::string_view chosen;
  size_t n = 0;
  std::string all;
  for (const std::string_view c : choices) {
    if (has(c)) chosen = c, ++n;
    all += (all.empty() ? "" : ", ") + std::string(c);
  }
  if (n != 1) complain("", "must have exactly one of " + all);
  return chosen;
}

void Keys::each(std::string_view key, const Each& call) {
  const YamlNode* node = find(key);
  if (!node) return;
  const std::string path = config::join(path_, key);
  if (node->is_scalar()) complain(key, "must be a map or a list");
  for (const Entry& e : node->entries) call(e.key, e.value, config::join(path, e.key));
  for (size_t i = 0; i < node->items.size(); ++i)
    call("", node->items[i], path + "[" + std::to_string(i) + "]");
}

}  // namespace turnpike::lab
