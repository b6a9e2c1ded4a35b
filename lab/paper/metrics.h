// SPDX-License-Identifier: BSD-3-Clause
// An experiment's metrics, from the folders of its runs.
#pragma once

#include <map>
#include <string>

#include "lab/paper/index.h"
#include "lab/paper/samples.h"

namespace turnpike::lab {

/// By name, as they are (a ratio with the unit % is a ratio). NaN: the folders do not tell.
/// Infinity: a series that never settles.
using Metrics = std::map<std::string, double>;
Metrics metrics_of(const Experiment& experiment, const std::string& out);

/// What each of a metric's runs came to; empty for what comes of other metrics.
std::vector<double> by_run(const MetricSpec& metric, const Experiment& experiment,
                           const std::string& out);

/// The values as one number; NaN of none.
double taken(const std::vector<double>& values, Take take);
/// As in Settle, s, for one of its series.
double settling_time(const Samples& samples, const Settle& settle);
/// As in Below, s.
double time_below(const Samples& samples, double level);

}  // namespace turnpike::lab
