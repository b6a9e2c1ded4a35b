// SPDX-License-Identifier: BSD-3-Clause
// Files in messages between a coordinator and its agents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace turnpike::lab {

/// Bytes of a file in one message, at most: JSON may need six for each, and LineReader takes lines
/// of 1 MB.
inline constexpr size_t kFilePart = 128 << 10;

/// Calls `take` with the parts of a text in turn, at least once. None ends within a character of
/// UTF-8; a text that is not UTF-8 is passed on as it is.
inline void for_each_part(std::string_view text, const auto& take) {
  do {
    size_t end = std::min(kFilePart, text.size());
    // Bytes of a character after its first one, three at most, begin with the bits 10.
    for (int i = 0; i < 3 && end < text.size() && (static_cast<uint8_t>(text[end]) >> 6U) == 2; ++i)
      --end;
    take(text.substr(0, end));
    text.remove_prefix(end);
  } while (!text.empty());
}

}  // namespace turnpike::lab
