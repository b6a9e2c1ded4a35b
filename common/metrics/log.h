// SPDX-License-Identifier: BSD-3-Clause
// The programs' log: to stderr, one line per message; stdout is for results.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace turnpike::metrics {

/// Values of an option for the level.
inline constexpr std::string_view kLogLevels = "trace, debug, info, warning, error, critical, off";

/// Call once in main(), before the first log line. spdlog's default logger then writes to stderr,
/// from `level` on, with the time in UTC. An unknown level is an error that lists the known ones.
tl::expected<void, std::string> set_up_log(std::string_view program, std::string_view level);

}  // namespace turnpike::metrics
