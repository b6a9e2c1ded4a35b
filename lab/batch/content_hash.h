// SPDX-License-Identifier: BSD-3-Clause
// A hash that names a content.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sender/connection/siphash.h"

namespace turnpike::lab {

/// 128 bits as 32 hexadecimal digits: two SipHashes with fixed keys. Contents have different names
/// unless one was made to collide with the other.
inline std::string content_hash(std::string_view content) {
  std::vector<uint64_t> words(content.size() / sizeof(uint64_t) + 2);
  std::memcpy(words.data(), content.data(), content.size());
  words.back() = content.size();
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx",
                static_cast<unsigned long long>(sender::siphash({1, 2}, words)),
                static_cast<unsigned long long>(sender::siphash({3, 4}, words)));
  return text.data();
}

}  // namespace turnpike::lab
