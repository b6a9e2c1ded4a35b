// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/live.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace turnpike::report {

LiveStyle natural_style(std::FILE* out) {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return isatty(fileno(out)) && !dumb ? LiveStyle::kTable : LiveStyle::kLines;
}

LiveStyle live_style(std::string_view name, std::FILE* out) {
  if (name == "table") return LiveStyle::kTable;
  if (name == "lines") return LiveStyle::kLines;
  if (name == "json") return LiveStyle::kJson;
  return name == "off" ? LiveStyle::kNone : natural_style(out);
}

Live::Live(LiveStyle style, std::FILE* out)
    : style_(style), write_([out](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), out);
        std::fflush(out);
        return true;
      }) {}

Live::Live(LiveStyle style, metrics::NonBlockingOutput& out)
    : style_(style), write_([&out](std::string_view text) { return out.write(text); }) {}

void Live::show(const LiveView& view) {
  if (style_ == LiveStyle::kNone) return;
  if (view.hosts.empty() && view.links.empty() && view.streams.empty()) return;
  if (style_ == LiveStyle::kLines) {
    if (view.t < next_line_) return;
    next_line_ = std::floor(view.t) + 1;
  }
  if (style_ == LiveStyle::kTable) {
    std::string text;
    const std::string table = live_table(view);
    if (lines_on_screen_ > 0) text = "\x1b[" + std::to_string(lines_on_screen_) + "A\r\x1b[J";
    if (write_(text + table))
      lines_on_screen_ = static_cast<size_t>(std::count(table.begin(), table.end(), '\n'));
  } else {
    write_((style_ == LiveStyle::kJson ? live_json(view) : live_line(view)) + "\n");
  }
}

}  // namespace turnpike::report
