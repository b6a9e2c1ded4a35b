// SPDX-License-Identifier: BSD-3-Clause
// For tests: whether markup is well-formed XML, read strictly and without a library.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace turnpike::report {

/// Empty if `text` (without a document type) is well-formed; otherwise the first violation.
inline std::string xml_error(std::string_view text) {
  std::vector<std::string> open;
  const auto entity_ok = [](std::string_view rest) {
    for (const std::string_view e : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
      if (rest.starts_with(e)) return true;
    return false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&' && !entity_ok(text.substr(i)))
      return "bare & before " + std::string(text.substr(i, 20));
    if (text[i] == '>') return "bare > before " + std::string(text.substr(i, 20));
    if (text[i] != '<') continue;
    const bool closes = text.substr(i).starts_with("</");
    size_t at = i + (closes ? 2 : 1);
    const auto name_char = [&] {
      return at < text.size() && (std::isalnum(text[at]) || text[at] == '-');
    };
    std::string name;
    while (name_char()) name += text[at++];
    if (name.empty()) return "no name after < at " + std::string(text.substr(i, 20));
    bool empty_element = false;
    while (at < text.size() && text[at] != '>') {
      if (text[at] == ' ') {
        ++at;
        continue;
      }
      if (text[at] == '/' && at + 1 < text.size() && text[at + 1] == '>') {
        empty_element = true;
        ++at;
        continue;
      }
      const size_t start = at;
      while (name_char()) ++at;
      if (at == start || text.substr(at, 2) != "=\"") return "bad attribute in <" + name;
      for (at += 2; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '<') return "< in an attribute of <" + name;
        if (text[at] == '&' && !entity_ok(text.substr(at)))
          return "bare & in an attribute of <" + name;
      }
      ++at;
    }
    if (at >= text.size()) return "<" + name + " never ends";
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (!empty_element) {
      open.push_back(name);
    }
    i = at;
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

}  // namespace turnpike::report
