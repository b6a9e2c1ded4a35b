// SPDX-License-Identifier: BSD-3-Clause
#include "common/units/printable.h"

#include <cstdint>

namespace turnpike {
namespace {

uint8_t byte(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

bool continues(std::string_view text, size_t from, size_t to) {
  if (text.size() < to) return false;
  for (size_t i = from; i < to; ++i)
    if ((byte(text, i) & 0xc0) != 0x80) return false;
  return true;
}

}  // namespace

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const uint8_t first = byte(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (!continues(text, 1, length)) return 0;
  const uint8_t second = byte(text, 1);
  // No overlong forms, no surrogates, nothing beyond U+10FFFF.
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

bool is_control(std::string_view text) {
  const uint8_t first = byte(text, 0);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && byte(text, 1) < 0xa0);
}

std::string printable(std::string_view text, size_t most) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool cut = text.size() > most;
  if (cut) text = text.substr(0, most);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const bool plain = length > 0 && !is_control(text);
    const std::string_view character = text.substr(0, length > 0 ? length : 1);
    text.remove_prefix(character.size());
    // Omits a character that the cut divides.
    if (length == 0 && cut && text.size() < 3) break;
    if (plain) {
      out += character;
      continue;
    }
    for (const char c : character) {
      const auto b = static_cast<uint8_t>(c);
      (out += "\\x") += kDigits[b >> 4];
      out += kDigits[b & 15];
    }
  }
  return cut ? out + "..." : out;
}

}  // namespace turnpike
