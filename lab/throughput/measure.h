// SPDX-License-Identifier: BSD-3-Clause
// The whole measurement: what the generator can do, what the device carries, and how long it keeps
// packets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "lab/throughput/trial.h"
#include "lab/throughput/trial_runner.h"

namespace turnpike::lab {

struct MeasureOptions {
  std::vector<double> goals = {0, 0.001};  // shares of packets that may be lost
  double resolution = 0.01;                // of the rate
  Nanos trial = 2_s;
  bool calibrate = true;         // the generator in loopback first
  bool latency = false;          // at shares of the rate without loss
  std::string sockets = "/tmp";  // folder for those of the loopback
  unsigned attempts = 3;         // at a trial that turns out invalid
};

struct GoalResult {
  double goal = 0;
  std::optional<Trial> best;  // the one at the greatest rate that passed
  bool generator = false;     // which is as much as the generator can do, or could prove
};

struct LatencyResult {
  double part = 0;  // of the rate without loss
  Trial device;
  std::optional<Trial> loopback;  // the generator with itself at the same rate
};

struct Measurement {
  std::optional<Trial> generator;  // its best in loopback
  std::string uncalibrated;        // why there is none
  std::vector<Trial> trials;       // all of the device's, in order
  std::vector<GoalResult> goals;
  std::vector<LatencyResult> latencies;
};

/// Told of every trial as it ends; `what` says what it was for.
using OnTrial = std::function<void(const std::string& what, const Trial& trial)>;

/// The streams' rates in the file are the most that is tried. The error says which trial could not
/// be played, and why.
tl::expected<Measurement, std::string> measure(const config::Topology& topology,
                                               const MeasureOptions& options, TrialRunner& runner,
                                               const OnTrial& on_trial);

nlohmann::ordered_json measurement_json(const Measurement& measurement);
/// The results in lines for people.
std::string measurement_text(const Measurement& measurement);

}  // namespace turnpike::lab
