// SPDX-License-Identifier: BSD-3-Clause
// Properties of a key in the syntax of a topology file.
#pragma once

#include <span>
#include <string_view>

#include "common/config/spec.h"

namespace turnpike::config {

struct About {
  std::string_view doc;
  std::string_view fallback = {};       // as a file writes it; empty: none
  std::string_view min = {}, max = {};  // inclusive, as a file writes them; of each item in a list
  size_t count = 0;                     // of a list: the exact number of items
  bool required = false;
  bool bare = false;                             // of a kOneOf: the key is valid without a value
  std::span<const std::string_view> words = {};  // the only valid words
};

}  // namespace turnpike::config
