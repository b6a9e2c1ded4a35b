// SPDX-License-Identifier: BSD-3-Clause
// Strict: a line that is not two numbers in range is an error, not a flow of size zero.
#include "common/config/trace.h"

#include <charconv>

#include "common/config/lines.h"
#include "common/units/input_file.h"

namespace turnpike::config {
namespace {

constexpr double kMaxTime = 1e9;                          // s
constexpr uint64_t kMaxFlowSize = 1'000'000'000'000'000;  // B

template <class T>
bool read_number(std::string_view s, T& out) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc{} && end == s.data() + s.size();
}

LineError read_entry(std::string_view line, TraceEntry& out) {
  const size_t comma = line.find(',');
  if (comma == std::string_view::npos) return {excerpt(line) + " is not \"time_s,bytes\"", line};
  const std::string_view time = trim(line.substr(0, comma)), size = trim(line.substr(comma + 1));
  double seconds = 0;
  if (!read_number(time, seconds) || !(seconds >= 0 && seconds <= kMaxTime))
    return {excerpt(time) + " is not a time of 0 to 1e9 s", time};
  out.at = from_seconds(seconds);
  if (!read_number(size, out.bytes) || out.bytes > kMaxFlowSize)
    return {excerpt(size) + " is not a flow's size, a whole number of 0 to 1e15 B", size};
  return {};
}

}  // namespace

tl::expected<std::vector<TraceEntry>, Mistake> parse_trace(std::string_view text,
                                                           const std::string& name) {
  std::vector<TraceEntry> entries;
  Lines lines(text);
  while (const auto whole = lines.next()) {
    const std::string_view line = trim(*whole);
    if (line.empty() || line.front() == '#') continue;
    if (lines.number() == 1 && line == "time_s,bytes") continue;
    TraceEntry entry;
    LineError wrong = read_entry(line, entry);
    if (wrong.message.empty() && !entries.empty() && entry.at < entries.back().at)
      wrong = {"times must not go back", line};
    if (!wrong.message.empty())
      return tl::unexpected(Mistake{name, lines.number(), column_of(wrong.part, *whole), "",
                                    std::move(wrong.message)});
    entries.push_back(entry);
  }
  if (entries.empty()) return tl::unexpected(Mistake{name, 1, 1, "", "no flow in this trace"});
  return entries;
}

tl::expected<std::vector<TraceEntry>, Mistake> load_trace(const std::string& path) {
  const auto text = read_input_file(path, kMaxListBytes);
  if (!text) return tl::unexpected(Mistake{path, 0, 0, "", "cannot be read: " + text.error()});
  return parse_trace(*text, path);
}

}  // namespace turnpike::config
