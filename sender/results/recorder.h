// SPDX-License-Identifier: BSD-3-Clause
// Collects what the hosts tell while they run, and says at the end how the run went.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/units/units.h"
#include "sender/results/outcome_log.h"
#include "sender/results/record.h"

namespace turnpike::sender {

/// Time comes in with each sample, so that it works on any clock. The topology must outlive it.
class Recorder {
 public:
  /// `folder`: where outcomes of flows may be kept while there are too many for memory.
  explicit Recorder(const config::Topology& topology, const std::string& folder = ".");

  /// What each of Topology::hosts, and each flow group, has done by `now`. A flow group is an
  /// entry of Topology::flows, then of Topology::workloads: the index of FlowOutcome::source.
  /// Call it at 0, each Run::sample, and at the end of the run, in order of time; a second sample
  /// of one instant replaces the first.
  void sample(Nanos now, std::span<const HostReading> hosts, std::span<const GroupReading> groups);

  /// Once per flow, in any order; flows still open at the end of the run included.
  void flow_ended(const FlowOutcome& outcome);

  /// Percentiles over the whole run of the flows that start at a host.
  void delays(size_t host, const Spread& rtt, const Spread& queueing);

  /// What one host, or several, started and what ran out there, over the whole run.
  void limits(const LimitsReading& reading);

  /// The whole run of a stream; once nothing of it is under way.
  void stream(size_t index, const StreamReading& reading);

  /// Rates over the latest sampling interval; nothing before the second sample.
  [[nodiscard]] std::optional<Measured> latest_rates() const;
  /// The latest sample, of one or more.
  [[nodiscard]] const Sample& latest() const { return record_.samples.back(); }
  /// Everything seen so far, in memory; the latest sample is the last one.
  [[nodiscard]] const Record& record() const;
  /// Rate that the host is entitled to at `now` by the file; 0 where nothing is claimed.
  [[nodiscard]] BitRate entitled(size_t host, Nanos now) const;

  /// Everything that is known of the run, in the shape of summary.json.
  [[nodiscard]] nlohmann::json summary(const RunEnd& end) const;

  /// Writes rates.csv and flows.csv into `folder`, which it makes where missing.
  [[nodiscard]] tl::expected<void, std::string> write_series(const std::string& folder) const;
  /// Writes summary.json, rates.csv, flows.csv and report.html into `folder`, which it makes where
  /// missing. The error says which file could not be written and why.
  [[nodiscard]] tl::expected<void, std::string> write(const std::string& folder,
                                                      const RunEnd& end) const;

 private:
  const config::Topology& topology_;
  std::vector<Phase> planned_;
  mutable Record record_;        // its outcomes when record() is asked for
  mutable OutcomeLog outcomes_;  // those that came since
};

}  // namespace turnpike::sender
