// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/record.h"

#include <algorithm>

namespace turnpike::sender {

std::optional<Measured> measure(const Record& record, Nanos from, Nanos to) {
  // Use only whole sampling intervals: one that contains a change would mix two states.
  const auto by_time = [](const Sample& s, Nanos t) { return s.now < t; };
  const auto first = std::lower_bound(record.samples.begin(), record.samples.end(), from, by_time);
  auto last = std::lower_bound(first, record.samples.end(), to + Nanos(1), by_time);
  if (last - first < 2) return {};
  --last;
  const double span = to_seconds(last->now - first->now);
  Measured m;
  const auto rate = [&](const auto& now, const auto& then) {
    return from_bytes_per_second(static_cast<double>(now.acked_bytes - then.acked_bytes) / span);
  };
  for (size_t i = 0; i < last->hosts.size(); ++i)
    m.hosts.push_back(rate(last->hosts[i], first->hosts[i]));
  for (size_t i = 0; i < last->groups.size(); ++i)
    m.groups.push_back(rate(last->groups[i], first->groups[i]));
  return m;
}

bool finite(const config::Topology& topology, const FlowOutcome& outcome) {
  return outcome.source >= topology.flows.size() ||
         topology.flows[outcome.source].size != config::kEndless;
}

std::vector<Busy> actual_busy(const config::Topology& topology, const Record& record) {
  std::vector<Busy> merged;
  for (const FlowOutcome& f : record.outcomes) {  // in order of start
    if (!finite(topology, f)) continue;
    if (!merged.empty() && f.start <= merged.back().to)
      merged.back().to = std::max(merged.back().to, f.end);
    else
      merged.push_back({f.start, f.end});
  }
  return merged;
}

}  // namespace turnpike::sender
