// SPDX-License-Identifier: BSD-3-Clause
// The programs' log: to stderr, one line per message; stdout is for results.
//
// A message is a sentence, followed by the figures that programs look for as fields:
//
//     spdlog::warn("link is down{}", fields({{"link", name}, {"seconds", "2"}}));
//     // link is down link=up seconds=2
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace turnpike::metrics {

/// Values of an option for the level.
inline constexpr std::string_view kLogLevels = "trace, debug, info, warning, error, critical, off";

/// Call once in main(), before the first log line. spdlog's default logger then writes to stderr,
/// from `level` on. Each line begins with the time in UTC, the program and the level; if stderr is
/// the journal, which adds these itself, with the priority alone (sd-daemon(3)). Repeated messages
/// are limited, see LimitedSink. An unknown level is an error that lists the known ones.
tl::expected<void, std::string> set_up_log(std::string_view program, std::string_view level);

/// Whether this file descriptor is the stream to the journal that systemd has announced
/// (systemd.exec(5), $JOURNAL_STREAM).
bool is_journal(int fd);

struct Field {
  std::string_view name;  // lower case letters, digits and _
  std::string_view value;
};
/// " name=value" for each. Values with spaces, quotes, control characters or nothing in them are
/// quoted; control characters become \xNN, so that a value never ends the line.
std::string fields(std::initializer_list<Field> all);

}  // namespace turnpike::metrics
