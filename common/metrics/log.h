// SPDX-License-Identifier: BSD-3-Clause
// How the programs log: to stderr, one line each; stdout is for results.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace turnpike::metrics {

/// What an option for the level accepts.
inline constexpr std::string_view kLogLevels = "trace, debug, info, warning, error, critical, off";

/// Once in every main, before anything logs: spdlog's default logger writes to stderr, from `level`
/// on, with the time in UTC. An unknown level is an error that names the known ones.
tl::expected<void, std::string> set_up_log(std::string_view program, std::string_view level);

}  // namespace turnpike::metrics
