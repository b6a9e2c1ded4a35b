// SPDX-License-Identifier: BSD-3-Clause
// A table as plain text.
#pragma once

#include <string>
#include <vector>

namespace turnpike::lab {

/// Rows of words in columns as wide as need be; all but the first `left` stand to the right.
std::string columns(const std::vector<std::vector<std::string>>& rows, size_t left = 2);

}  // namespace turnpike::lab
