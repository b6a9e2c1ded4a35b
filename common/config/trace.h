// SPDX-License-Identifier: BSD-3-Clause
// A recorded workload: when flows arrived and how large they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/load.h"
#include "common/units/units.h"

namespace turnpike::config {

struct TraceEntry {
  Nanos at{0};  // since the workload's start, not before the previous entry's
  uint64_t bytes = 0;
};

/// Largest file read, of traces and of routing tables.
inline constexpr size_t kMaxListBytes = 256 << 20;

/// Reads lines "time_s,bytes". Skips a heading in the first line, blank lines and lines that begin
/// with #. A mistake has file, line and column; line and column are 0 if the file cannot be read.
tl::expected<std::vector<TraceEntry>, Mistake> load_trace(const std::string& path);
/// The same for text in memory; mistakes name the file `name`.
tl::expected<std::vector<TraceEntry>, Mistake> parse_trace(std::string_view text,
                                                           const std::string& name);

}  // namespace turnpike::config
