// SPDX-License-Identifier: BSD-3-Clause
// Collects what the hosts tell while they run, and says at the end how the run went.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/units/units.h"
#include "sender/observed.h"
#include "sender/results/intervals.h"
#include "sender/results/reading.h"

namespace turnpike::sender {

/// How the run ended.
struct RunEnd {
  Nanos now{0};                              // of the run's own clock; it began at 0
  double wall_s = 0;                         // what it took, start-up and drain included
  std::map<std::string, std::string> facts;  // for the table of run facts: versions, CPU, commit
};

/// Rates of one sampling interval, of hosts or of flow groups.
struct RateRow {
  BitRate achieved{0};  // acknowledged for the first time, IP datagrams
  BitRate sent{0};      // retransmissions included
  BitRate offered{0};   // what pacing asked for; hosts only
};

/// What one sample showed; the live display and rates.csv are made of it.
struct Frame {
  Nanos now{0};
  std::vector<HostReading> hosts;    // as handed in
  std::vector<RateRow> host_rates;   // since the sample before
  std::vector<RateRow> group_rates;  // likewise
  std::vector<uint32_t> active;      // open flows, per group
};

/// Time comes in with each sample, so that it works on any clock. Samples come in order of time.
class Recorder {
 public:
  explicit Recorder(const config::Topology& topology);

  /// What each of Topology::hosts, and each flow group, has done by `now`. A flow group is an
  /// entry of Topology::flows, then of Topology::workloads: the index of FlowOutcome::source.
  /// Call it at 0, each Run::sample, and at the end of the run.
  void sample(Nanos now, std::span<const HostReading> hosts, std::span<const GroupReading> groups);

  /// Once per flow, in any order; flows still open at the end of the run included.
  void flow_ended(const FlowOutcome& outcome);

  /// Percentiles over the whole run of the flows that start at a host.
  void delays(size_t host, const Spread& rtt, const Spread& queueing);

  /// The latest sample; empty vectors before the first one.
  [[nodiscard]] const Frame& latest() const { return latest_; }
  /// Rate in bit/s that the host is entitled to at `now`; 0 where nothing is claimed.
  [[nodiscard]] BitRate entitled(size_t host, Nanos now) const;

  /// Everything that is known of the run, in the shape of summary.json.
  [[nodiscard]] nlohmann::json summary(const RunEnd& end) const;

  /// Writes summary.json, rates.csv and flows.csv into `folder`, which it makes where missing.
  /// The error says which file could not be written and why.
  [[nodiscard]] tl::expected<void, std::string> write(const std::string& folder,
                                                      const RunEnd& end) const;

 private:
  struct DelayRow {
    Spread rtt, queueing;
  };

  const config::Topology& topology_;
  std::vector<Phase> planned_;
  Frame latest_;
  std::vector<Frame> frames_;
  std::vector<std::vector<GroupReading>> group_readings_;  // per frame
  std::vector<FlowOutcome> outcomes_;
  std::vector<DelayRow> delays_;
};

}  // namespace turnpike::sender
