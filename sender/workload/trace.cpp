// SPDX-License-Identifier: BSD-3-Clause
// Strict: a line that is not two numbers in range is an error, not a flow of size zero.
#include "sender/workload/trace.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

namespace turnpike::sender {
namespace {

constexpr double kLongestTime = 1e9;                      // s
constexpr uint64_t kLargestFlow = 1'000'000'000'000'000;  // B

std::string_view trim(std::string_view s) {
  const auto begin = s.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

template <class T>
bool read_number(std::string_view s, T& out) {
  s = trim(s);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc{} && end == s.data() + s.size();
}

bool read_entry(std::string_view line, TraceEntry& out) {
  const auto comma = line.find(',');
  if (comma == std::string_view::npos) return false;
  double seconds = 0;
  if (!read_number(line.substr(0, comma), seconds)) return false;
  if (!(seconds >= 0 && seconds <= kLongestTime)) return false;
  out.at = from_seconds(seconds);
  return read_number(line.substr(comma + 1), out.bytes) && out.bytes <= kLargestFlow;
}

}  // namespace

tl::expected<std::vector<TraceEntry>, std::string> parse_trace(const std::string& text,
                                                               const std::string& name) {
  std::vector<TraceEntry> entries;
  std::istringstream in(text);
  std::string raw;
  for (int number = 1; std::getline(in, raw); ++number) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (number == 1 && line == "time_s,bytes") continue;
    const std::string where = name + ":" + std::to_string(number) + ": ";
    TraceEntry entry;
    if (!read_entry(line, entry)) {
      return tl::unexpected(where + "expected \"time_s,bytes\", found \"" + std::string(line) +
                            "\"");
    }
    if (!entries.empty() && entry.at < entries.back().at) {
      return tl::unexpected(where + "times must not go back");
    }
    entries.push_back(entry);
  }
  if (entries.empty()) return tl::unexpected(name + ": no flow in this trace");
  return entries;
}

tl::expected<std::vector<TraceEntry>, std::string> load_trace(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return tl::unexpected(path + ": cannot be read");
  return parse_trace(text.str(), path);
}

size_t max_arrivals(const std::vector<TraceEntry>& trace, Nanos span) {
  size_t most = 0, first = 0;
  for (size_t last = 0; last < trace.size(); ++last) {
    while (trace[last].at - trace[first].at >= span) ++first;
    most = std::max(most, last - first + 1);
  }
  return most;
}

Traces::Traces(const config::Topology& topology) {
  std::map<std::string, Shared> read;
  for (const config::Workload& w : topology.workloads) {
    const auto* trace = std::get_if<config::TraceSize>(&w.size);
    if (trace == nullptr) {
      by_workload_.emplace_back();
      continue;
    }
    Shared& shared = read[trace->file];
    if (shared == nullptr)
      if (auto entries = load_trace(trace->file))
        shared = std::make_shared<const std::vector<TraceEntry>>(std::move(*entries));
    by_workload_.push_back(shared);
  }
}

}  // namespace turnpike::sender
