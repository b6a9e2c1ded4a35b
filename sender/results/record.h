// SPDX-License-Identifier: BSD-3-Clause
// Plain data of a run: samples, outcomes and totals; and mean rates over a stretch of it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "sender/observed.h"
#include "sender/results/intervals.h"
#include "sender/results/outcome_log.h"
#include "sender/results/reading.h"

namespace turnpike::sender {

/// Load of one lcore.
struct LcoreReading {
  std::vector<uint32_t> hosts;  // that it ran: indices into Topology::hosts
  double busy = 0;              // share of its time in polls that did work, 0 to 1
  Nanos stalled{0};             // time for which its thread was descheduled
};

/// State at the end of the run. "Real" excludes the lab's virtual clock.
struct RunEnd {
  Nanos now{0};                           // on the run's clock, which begins at 0
  std::optional<double> wall_s = {};      // s since program start; only where time is real
  std::vector<LcoreReading> lcores = {};  // only where time is real
  double unix_s = 0;                      // UNIX time at `now` = 0; 0 where time is not real
  std::map<std::string, std::string> facts = {};  // for people: versions, CPU, commit
};

/// One sample of all hosts and flow groups.
struct Sample {
  Nanos now{0};
  std::vector<HostReading> hosts;    // by index into Topology::hosts
  std::vector<GroupReading> groups;  // by Topology::flows, then Topology::workloads
};

struct DelayRow {
  Spread rtt, queueing;
};

struct Record {
  std::vector<Sample> samples;  // in order of time
  OutcomeLog outcomes{};
  std::vector<DelayRow> delays;        // by index into Topology::hosts
  std::vector<StreamReading> streams;  // by index into Topology::streams
  std::optional<LimitsReading> limits = {};
};

/// Mean rates between the first and the last sample within [from, to].
struct Measured {
  std::vector<BitRate> hosts;   // acknowledged for the first time, by sending host
  std::vector<BitRate> groups;  // likewise, by flow group
};

/// Measures mean rates; nothing if fewer than two samples lie in [from, to].
std::optional<Measured> measure(const Record& record, Nanos from, Nanos to);

/// Stretches in which finite flows were open, from the outcomes; adjacent ones are merged.
std::vector<Busy> actual_busy(const config::Topology& topology, const Record& record);

/// Whether the flow has a finite size, and so a completion time.
bool finite(const config::Topology& topology, const FlowOutcome& outcome);

}  // namespace turnpike::sender
