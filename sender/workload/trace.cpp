// SPDX-License-Identifier: BSD-3-Clause
#include "sender/workload/trace.h"

#include <algorithm>
#include <map>

namespace turnpike::sender {

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
      if (auto entries = config::load_trace(trace->file))
        shared = std::make_shared<const std::vector<TraceEntry>>(std::move(*entries));
    by_workload_.push_back(shared);
  }
}

}  // namespace turnpike::sender
