// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/yaml_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>

namespace turnpike::config {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char code[5];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(c));
      out += code;
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

std::string plain(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNulls{"null", "Null", "NULL"};
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const bool safe =
      !name.empty() && letter(name.front()) && std::ranges::find(kNulls, name) == kNulls.end() &&
      std::ranges::all_of(name,
                          [&](char c) { return letter(c) || c == '_' || c == '-' || c == '.'; });
  return safe ? std::string(name) : in_quotes(name);
}

std::string truth(bool value) { return value ? "true" : "false"; }

std::string number(double value) {
  std::array<char, 32> out;
  return {out.data(), std::to_chars(out.data(), out.data() + out.size(), value).ptr};
}

std::string listed(std::span<const std::string> values) {
  std::string out;
  for (const std::string& v : values) out += (out.empty() ? "" : ", ") + v;
  return "[" + out + "]";
}

std::string mapped(std::span<const YamlPair> entries) {
  std::string out;
  for (const auto& [key, value] : entries)
    out.append(out.empty() ? "" : ", ").append(key).append(": ").append(value);
  return "{" + out + "}";
}

std::string mapped(std::initializer_list<YamlPair> entries) {
  return mapped(std::span(entries.begin(), entries.size()));
}

}  // namespace turnpike::config
