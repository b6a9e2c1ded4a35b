// SPDX-License-Identifier: BSD-3-Clause
// Files that the user names.
#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

namespace turnpike {

/// The whole of a regular file. The error is a reason without the path: "it is a FIFO", "it is
/// larger than 8 MiB", "Permission denied". Never waits for a writer and never reads a device,
/// whose reads may not end.
tl::expected<std::string, std::string> read_input_file(const std::string& path, size_t most_bytes);

/// Why a path names no regular file that can be read, in such words; empty: it does.
std::string why_unreadable(const std::string& path);

}  // namespace turnpike
