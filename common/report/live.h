// SPDX-License-Identifier: BSD-3-Clause
// Shows a run while it runs: a table redrawn in place, plain lines, or JSON lines.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "common/report/live_view.h"

namespace turnpike::report {

enum class LiveStyle : uint8_t { kNone, kTable, kLines, kJson };

/// How `out` is best written to: a table on a terminal, lines elsewhere.
LiveStyle natural_style(std::FILE* out);
/// "table", "lines", "json" or "off"; anything else is "auto", the natural style.
LiveStyle live_style(std::string_view name, std::FILE* out);

/// Writes views one after the other; a table replaces the one before it on the screen, and of lines
/// there is at most one for each second of the run.
class Live {
 public:
  Live(LiveStyle style, std::FILE* out) : style_(style), out_(out) {}

  void show(const LiveView& view);

 private:
  LiveStyle style_;
  std::FILE* out_;
  size_t lines_on_screen_ = 0;
  double next_line_ = 0;  // s
};

}  // namespace turnpike::report
