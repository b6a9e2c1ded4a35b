// SPDX-License-Identifier: BSD-3-Clause
// The whole measurement: the generator's limit, the device's rate, and the device's latency.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "lab/throughput/trial.h"
#include "lab/throughput/trial_runner.h"

namespace turnpike::lab {

struct MeasureOptions {
  std::vector<double> goals = {0, 0.001};  // shares of packets that may be lost
  double resolution = 0.01;                // of the rate
  Nanos trial = 2_s;
  Nanos confirm{0};              // duration of a last trial at the rate found; 0: there is none
  bool calibrate = true;         // the generator in loopback first
  bool latency = false;          // at shares of the rate without loss
  std::string sockets = "/tmp";  // folder for those of the loopback
  unsigned attempts = 3;         // repetitions of an invalid trial
};

struct GoalResult {
  double goal = 0;
  std::optional<Trial> best;  // the one at the greatest rate that passed
  bool generator = false;     // limited by the generator, or by its proven rate
  // At `best`'s rate for MeasureOptions::confirm, if that passed.
  std::optional<Trial> confirmed = {};
  bool unconfirmed = false;  // neither that rate nor those tried below it passed
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
  Platforms platforms;  // of the first goal's best trial; without one, of the last trial
};

/// Called after each trial; `what` names its purpose.
using OnTrial = std::function<void(const std::string& what, const Trial& trial)>;

/// The streams' rates in the file are the upper bound of the search. A goal takes at most 22 rates
/// at a resolution of 0.01, and one more each time that it is halved; an invalid trial is repeated
/// MeasureOptions::attempts times at most. The error names the trial that could not be played, and
/// why.
tl::expected<Measurement, std::string> measure(const config::Topology& topology,
                                               const MeasureOptions& options, TrialRunner& runner,
                                               const OnTrial& on_trial);

nlohmann::ordered_json measurement_json(const Measurement& measurement);
/// The results as lines of text.
std::string measurement_text(const Measurement& measurement);

}  // namespace turnpike::lab
