// SPDX-License-Identifier: BSD-3-Clause
// Reads files that the user names.
#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

namespace turnpike {

/// The content of a regular file of at most `most_bytes` B. The error is a reason without the path:
/// "it is a FIFO", "it is larger than 8 MiB", "Permission denied". Never waits for a writer and
/// never reads a device, whose data may not end.
tl::expected<std::string, std::string> read_input_file(const std::string& path, size_t most_bytes);

/// The reason why a path is no readable regular file, in such words; empty: it is one.
std::string why_unreadable(const std::string& path);

}  // namespace turnpike
