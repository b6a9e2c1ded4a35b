// SPDX-License-Identifier: BSD-3-Clause
// Everything that was seen of a run, as plain data, and what was measured in a stretch of it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/config/topology.h"
#include "sender/observed.h"
#include "sender/results/intervals.h"
#include "sender/results/reading.h"

namespace turnpike::sender {

/// How busy one lcore was.
struct LcoreReading {
  std::vector<uint32_t> hosts;  // that it played
  double busy = 0;              // share of its time in polls that found something to do
  Nanos stalled{0};             // that the machine kept it waiting
};

/// How the run ended.
struct RunEnd {
  Nanos now{0};                           // of the run's own clock, which began at 0
  std::optional<double> wall_s = {};      // what it took from start-up on, where time is real
  std::vector<LcoreReading> lcores = {};  // where time is real
  double unix_s = 0;  // UNIX time when that clock stood at 0; 0 where time is not real
  std::map<std::string, std::string> facts = {};  // for people: versions, CPU, commit
};

/// One sample of everybody.
struct Sample {
  Nanos now{0};
  std::vector<HostReading> hosts;    // Topology::hosts
  std::vector<GroupReading> groups;  // Topology::flows, then Topology::workloads
};

struct DelayRow {
  Spread rtt, queueing;
};

struct Record {
  std::vector<Sample> samples;         // in order of time
  std::vector<FlowOutcome> outcomes;   // in any order
  std::vector<DelayRow> delays;        // Topology::hosts
  std::vector<StreamReading> streams;  // Topology::streams
  std::optional<LimitsReading> limits = {};
};

/// Mean rates between the first and the last sample within [from, to].
struct Measured {
  std::vector<BitRate> hosts;   // acknowledged for the first time, by sending host
  std::vector<BitRate> groups;  // likewise
};

/// Nothing if fewer than two samples lie in that stretch.
std::optional<Measured> measure(const Record& record, Nanos from, Nanos to);

/// When finite flows really were open: from the outcomes, merged where they touch.
std::vector<Busy> actual_busy(const config::Topology& topology, const Record& record);

/// Whether the flow was to end by itself, so that its completion time means something.
bool finite(const config::Topology& topology, const FlowOutcome& outcome);

}  // namespace turnpike::sender
