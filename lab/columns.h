// SPDX-License-Identifier: BSD-3-Clause
// Tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace turnpike::lab {

/// Rows of words in columns as wide as need be, indented by two; all but the first `words` columns
/// stand to the right.
std::string columns(const std::vector<std::vector<std::string>>& rows, size_t words = 2);

}  // namespace turnpike::lab
