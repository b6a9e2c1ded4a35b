// SPDX-License-Identifier: BSD-3-Clause
#include "sender/results/recorder.h"

#include <nlohmann/json.hpp>

#include "sender/results/result_files.h"
#include "sender/results/summary.h"

namespace turnpike::sender {

Recorder::Recorder(const config::Topology& topology, const std::string& folder)
    : topology_(topology), planned_(phases(topology, planned_busy(topology))) {
  record_.outcomes = OutcomeLog(folder);
  record_.delays.resize(topology.hosts.size());
  record_.streams.resize(topology.streams.size());
}

void Recorder::sample(Nanos now, std::span<const HostReading> hosts,
                      std::span<const GroupReading> groups) {
  if (!record_.samples.empty() && record_.samples.back().now >= now) record_.samples.pop_back();
  record_.samples.push_back({.now = now,
                             .hosts = {hosts.begin(), hosts.end()},
                             .groups = {groups.begin(), groups.end()}});
}

void Recorder::flow_ended(const FlowOutcome& outcome) { record_.outcomes.push_back(outcome); }

void Recorder::delays(size_t host, const Spread& rtt, const Spread& queueing) {
  record_.delays[host] = {rtt, queueing};
}

void Recorder::limits(const LimitsReading& reading) {
  if (!record_.limits) record_.limits.emplace();
  record_.limits->add(reading);
}

void Recorder::stream(size_t index, const StreamReading& reading) {
  record_.streams[index] = reading;
}

std::optional<Measured> Recorder::latest_rates() const {
  const auto& s = record_.samples;
  if (s.size() < 2) return {};
  return measure(record_, s[s.size() - 2].now, s.back().now);
}

BitRate Recorder::entitled(size_t host, Nanos now) const {
  for (const Phase& p : planned_)
    if (p.from <= now && now < p.to) return p.hosts[host];
  return BitRate(0);
}

nlohmann::json Recorder::summary(const RunEnd& end) const {
  return run_summary(topology_, record_, end);
}

tl::expected<void, std::string> Recorder::write_series(const std::string& folder) const {
  return sender::write_series(topology_, record_, folder);
}

tl::expected<void, std::string> Recorder::write(const std::string& folder,
                                                const RunEnd& end) const {
  return write_results(topology_, record_, end, folder);
}

}  // namespace turnpike::sender
