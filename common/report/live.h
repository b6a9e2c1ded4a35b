// SPDX-License-Identifier: BSD-3-Clause
// Shows a run's progress: a table redrawn in place, plain lines, or JSON lines.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>

#include "common/metrics/nonblocking_output.h"
#include "common/report/live_view.h"

namespace turnpike::report {

enum class LiveStyle : uint8_t { kNone, kTable, kLines, kJson };

/// The default style for `out`: a table on a terminal, lines otherwise.
LiveStyle natural_style(std::FILE* out);
/// "table", "lines", "json" or "off"; any other name is "auto", the default style.
LiveStyle live_style(std::string_view name, std::FILE* out);

/// Writes views one after the other. A table overwrites the previous one on the screen; lines are
/// limited to one per second of the run.
class Live {
 public:
  /// Waits for the reader of `out`.
  Live(LiveStyle style, std::FILE* out);
  /// Leaves out views that the reader of `out` does not take in time. `out` must outlive it.
  Live(LiveStyle style, metrics::NonBlockingOutput& out);

  void show(const LiveView& view);

 private:
  LiveStyle style_;
  std::function<bool(std::string_view)> write_;  // whether the text is written
  size_t lines_on_screen_ = 0;
  double next_line_ = 0;  // s
};

}  // namespace turnpike::report
