// SPDX-License-Identifier: BSD-3-Clause
// A recorded workload: when flows arrived and how large they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/units/units.h"

namespace turnpike::sender {

struct TraceEntry {
  Nanos at{0};  // since the workload's start, never before the entry above it
  uint64_t bytes = 0;
};

/// Reads lines "time_s,bytes"; a first line that is a heading, blank lines and lines that begin
/// with # are skipped. The error names file and line.
tl::expected<std::vector<TraceEntry>, std::string> load_trace(const std::string& path);
tl::expected<std::vector<TraceEntry>, std::string> parse_trace(const std::string& text,
                                                               const std::string& name);

}  // namespace turnpike::sender
