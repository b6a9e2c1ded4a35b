// SPDX-License-Identifier: BSD-3-Clause
// Results of a sweep: summaries of runs by combination of settings and seed.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "lab/batch/plan.h"
#include "lab/batch/values.h"
#include "lab/sweep/axes.h"

namespace turnpike::lab {

struct Combination {
  std::vector<config::Setting> settings;
  std::vector<nlohmann::json> summaries;  // by seed; null where the run failed
};

struct Sweep {
  std::string file;
  std::vector<Axis> axes;
  std::vector<uint64_t> seeds;
  std::vector<std::string> metrics = {};  // paths in a summary
  std::vector<Combination> combinations = {};
};

/// A sweep without results, for a plan whose tasks are by combination, then by seed; and the sweep
/// of a plan with the results that there are. The error: a result cannot be read.
nlohmann::json purpose_of(const Sweep& sweep);
tl::expected<Sweep, std::string> sweep_of(const Plan& plan);

/// The metrics of most interest that these runs have: of links with a law the utilisation, loss and
/// mean queueing delay; of flows the completion time and fairness; of hosts that send their
/// goodput.
std::vector<std::string> default_metrics(const Sweep& sweep);

/// The metrics at which no run has a number.
std::vector<std::string> metrics_without_values(const Sweep& sweep);

/// A combination's values of a metric by seed; NaN where there is none.
std::vector<double> values_of(const Combination& combination, const std::string& metric);

/// A row per combination and metric: the settings, then metric, median, min, max, seeds.
std::string sweep_csv(const Sweep& sweep);
nlohmann::json sweep_json(const Sweep& sweep);
std::string sweep_text(const Sweep& sweep);
/// One self-contained page: a chart per metric, with medians and ranges, and the table.
std::string sweep_page(const Sweep& sweep);

}  // namespace turnpike::lab
