// SPDX-License-Identifier: BSD-3-Clause
// Paths that another machine names.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>

namespace turnpike::lab {

/// Whether a path stays below the folder that it is relative to.
inline bool is_inner_path(const std::string& text) {
  const std::filesystem::path path(text);
  return path.is_relative() && path.has_filename() && path.filename() != "." &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; }) &&
         text.find('\0') == std::string::npos;
}

}  // namespace turnpike::lab
