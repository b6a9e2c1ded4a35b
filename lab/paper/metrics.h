// SPDX-License-Identifier: BSD-3-Clause
// Computes an experiment's metrics from the folders of its runs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lab/paper/index.h"
#include "lab/paper/samples.h"

namespace turnpike::lab {

/// By name, unscaled (a ratio with the unit % is a ratio). NaN: the folders lack the data.
/// Infinity: a series that never settles.
using Metrics = std::map<std::string, double>;

/// Results that are wrong on purpose.
struct WrongResults {
  std::set<std::string> runs = {};  // whose first seed is read from `out` and stands for all seeds
  std::string out = {};             // holds the results of these runs
  double file_factor = 1;           // of figures of files
  const std::map<std::string, double>* right = nullptr;  // metrics of the right results
};

Metrics metrics_of(const Experiment& experiment, const std::string& out, ResultFiles& files,
                   const WrongResults& wrong = {});
/// The same of files that nothing else reads.
Metrics metrics_of(const Experiment& experiment, const std::string& out,
                   const WrongResults& wrong = {});

/// The metric's value for each of its runs; empty for metrics that are computed from other metrics.
/// `known` has the metrics above it.
std::vector<double> by_run(const MetricSpec& metric, const Experiment& experiment,
                           const std::string& out, ResultFiles& files, const Metrics& known,
                           const WrongResults& wrong = {});

/// Least and greatest value over the seeds of the metric's run; nothing if it has several runs or
/// one seed, or is computed from other metrics.
std::optional<std::pair<double, double>> spread(const MetricSpec& metric,
                                                const Experiment& experiment,
                                                const std::string& out, ResultFiles& files,
                                                const Metrics& known);

/// Combines the values into one number; NaN if there are none.
double taken(const std::vector<double>& values, Take take);
/// Settling time of one series as in Settle, s.
double settling_time(const Samples& samples, const Settle& settle);
/// Time below the level as in Below, s.
double time_below(const Samples& samples, double level);

}  // namespace turnpike::lab
