// SPDX-License-Identifier: BSD-3-Clause
// Collects samples and outcomes during a run, and writes the results after it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/units/units.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// Works on any clock: each sample has its time. The topology must outlive it. One thread calls it.
class Recorder {
 public:
  /// `folder`: for the temporary file of OutcomeLog.
  explicit Recorder(const config::Topology& topology, const std::string& folder = ".");

  /// Records the totals at `now` of each entry of Topology::hosts and of each flow group: entries
  /// of Topology::flows, then of Topology::workloads, the index of FlowOutcome::source. Call at 0,
  /// every Run::sample, and at the end of the run, in order of time. A second sample of the same
  /// time replaces the first.
  void sample(Nanos now, std::span<const HostReading> hosts, std::span<const GroupReading> groups);

  /// Records an outcome. Call once per flow, in any order, and for flows open at the run's end.
  void flow_ended(const FlowOutcome& outcome);

  /// Records delay percentiles over the whole run of the flows that start at `host`.
  void delays(size_t host, const Spread& rtt, const Spread& queueing);

  /// Adds started flows and exhausted resources of one or more hosts over the whole run.
  void limits(const LimitsReading& reading);

  /// Records a stream's totals over the whole run. Call once none of its packets is under way.
  void stream(size_t index, const StreamReading& reading);

  /// Mean rates over the latest sampling interval; nothing before the second sample.
  [[nodiscard]] std::optional<Measured> latest_rates() const;
  /// The latest sample. Precondition: there is one.
  [[nodiscard]] const Sample& latest() const { return record_.samples.back(); }
  /// All data so far.
  [[nodiscard]] const Record& record() const { return record_; }
  /// Rate to which the host is entitled at `now` by the topology file; 0: none is determined.
  [[nodiscard]] BitRate entitled(size_t host, Nanos now) const;

  /// The contents of summary.json.
  [[nodiscard]] nlohmann::json summary(const RunEnd& end) const;

  /// Writes rates.csv and flows.csv into `folder`; makes the folder if missing.
  [[nodiscard]] tl::expected<void, std::string> write_series(const std::string& folder) const;
  /// Writes summary.json, rates.csv, flows.csv and report.html into `folder`; makes the folder if
  /// missing. The error names the file and the reason.
  [[nodiscard]] tl::expected<void, std::string> write(const std::string& folder,
                                                      const RunEnd& end) const;

 private:
  const config::Topology& topology_;
  std::vector<Phase> planned_;
  Record record_;
};

}  // namespace turnpike::sender
