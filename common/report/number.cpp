// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace turnpike::report {
namespace {

std::string print(double v, std::chars_format format, int precision) {
  char buffer[400];  // the largest double has 309 digits before the point
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, format, precision).ptr;
  return {buffer, end};
}

}  // namespace

std::string fixed(double v, int decimals) {
  if (!std::isfinite(v)) return kNoNumber;
  std::string text = print(v, std::chars_format::fixed, decimals);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string significant(double v, int digits) {
  if (!std::isfinite(v)) return kNoNumber;
  if (v == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(v))));
  const bool plain = magnitude >= -4 && magnitude < 7;
  std::string text = plain ? fixed(v, std::max(0, digits - 1 - magnitude))
                           : print(v, std::chars_format::scientific, digits - 1);
  const size_t mantissa_end = std::min(text.find('e'), text.size());
  if (text.find('.') < mantissa_end) {
    size_t end = text.find_last_not_of('0', mantissa_end - 1) + 1;
    if (text[end - 1] == '.') --end;
    text.erase(end, mantissa_end - end);
  }
  return text;
}

std::string grouped(uint64_t v) {
  std::string text = std::to_string(v);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), "\u202f");
  return text;
}

std::string percent(double ratio, int decimals, bool sign) {
  const std::string text = fixed(ratio * 100, decimals);
  return (sign && ratio > 0 && std::isfinite(ratio) ? "+" : "") + text + "\u00a0%";
}

}  // namespace turnpike::report
