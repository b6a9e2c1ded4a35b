// SPDX-License-Identifier: BSD-3-Clause
#include "lab/sweep/axes.h"

#include <algorithm>
#include <charconv>

namespace turnpike::lab {
namespace {

constexpr uint64_t kMaxSeeds = 10'000;

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return n;
}

}  // namespace

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  char quote = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

std::optional<Axis> parse_axis(std::string_view text) {
  const auto setting = config::parse_setting(text);
  if (!setting) return {};
  Axis axis{setting->path, split_values(setting->value)};
  if (std::find(axis.values.begin(), axis.values.end(), "") != axis.values.end()) return {};
  return axis;
}

std::optional<std::vector<uint64_t>> parse_seeds(std::string_view text) {
  std::vector<uint64_t> seeds;
  for (const std::string& part : split_values(text)) {
    const size_t dots = part.find("..");
    const auto first = whole_number(std::string_view(part).substr(0, dots));
    const auto last =
        dots == std::string::npos ? first : whole_number(std::string_view(part).substr(dots + 2));
    if (!first || !last || *last < *first || *last - *first >= kMaxSeeds) return {};
    for (uint64_t seed = *first; seed <= *last && seeds.size() <= kMaxSeeds; ++seed)
      seeds.push_back(seed);
  }
  if (seeds.size() > kMaxSeeds) return {};
  return seeds;
}

std::vector<std::vector<config::Setting>> combinations(std::span<const Axis> axes) {
  std::vector<std::vector<config::Setting>> all{{}};
  for (const Axis& axis : axes) {
    std::vector<std::vector<config::Setting>> longer;
    for (const auto& settings : all)
      for (const std::string& value : axis.values) {
        longer.push_back(settings);
        longer.back().push_back({axis.path, value});
      }
    all = std::move(longer);
  }
  return all;
}

}  // namespace turnpike::lab
