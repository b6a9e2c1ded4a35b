// SPDX-License-Identifier: BSD-3-Clause
#include "sender/workload/trace.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace turnpike::sender {

size_t max_arrivals(const std::vector<TraceEntry>& trace, Nanos span) {
  size_t most = 0, first = 0;
  for (size_t last = 0; last < trace.size(); ++last) {
    while (trace[last].at - trace[first].at >= span) ++first;
    most = std::max(most, last - first + 1);
  }
  return most;
}

Traces::Traces(const config::Topology& topology, const Threads& threads) {
  std::map<std::string, Shared> read;
  for (const config::Workload& w : topology.workloads)
    if (const auto* trace = std::get_if<config::TraceSize>(&w.size))
      read.emplace(trace->file, nullptr);
  std::vector<std::pair<const std::string, Shared>*> files;
  files.reserve(read.size());
  for (auto& file : read) files.push_back(&file);
  threads.for_each(files.size(), [&](size_t i) {
    auto& [file, shared] = *files[i];
    if (auto entries = config::load_trace(file))
      shared = std::make_shared<const std::vector<TraceEntry>>(std::move(*entries));
  });
  for (const config::Workload& w : topology.workloads) {
    const auto* trace = std::get_if<config::TraceSize>(&w.size);
    by_workload_.push_back(trace == nullptr ? nullptr : read[trace->file]);
  }
}

}  // namespace turnpike::sender
