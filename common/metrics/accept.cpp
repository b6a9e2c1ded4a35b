// SPDX-License-Identifier: BSD-3-Clause
// Content negotiation between the two text formats (RFC 9110 12.5.1).
#include <algorithm>
#include <charconv>

#include "common/metrics/prometheus.h"

namespace turnpike::metrics {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Cuts the part before `separator` off `text`.
std::string_view next_part(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return trimmed(part);
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

struct Range {
  std::string_view type, version;
  double weight = 1;
};

Range range_of(std::string_view text) {
  Range r;
  r.type = next_part(text, ';');
  while (!text.empty()) {
    std::string_view value = next_part(text, ';');
    const std::string_view name = next_part(value, '=');
    value = trimmed(value);
    if (same_word(name, "version")) r.version = value;
    if (!same_word(name, "q")) continue;
    double weight = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), weight);
    r.weight = read.ec == std::errc() && weight >= 0 && weight <= 1 ? weight : 0;
  }
  return r;
}

}  // namespace

std::string_view content_type(TextFormat format) {
  return format == TextFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

TextFormat accepted_format(std::string_view accept) {
  double open = 0, prometheus = 0;
  while (!accept.empty()) {
    const Range r = range_of(next_part(accept, ','));
    const bool version = r.version.empty() || r.version == "1.0.0" || r.version == "0.0.1";
    if (same_word(r.type, "application/openmetrics-text") && version)
      open = std::max(open, r.weight);
    if (same_word(r.type, "text/plain")) prometheus = std::max(prometheus, r.weight);
  }
  return open > prometheus ? TextFormat::kOpenMetrics : TextFormat::kPrometheus;
}

}  // namespace turnpike::metrics
