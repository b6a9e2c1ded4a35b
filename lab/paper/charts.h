// SPDX-License-Identifier: BSD-3-Clause
// Draws the papers' figures from the results of runs.
#pragma once

#include <string>
#include <vector>

#include "common/report/chart.h"
#include "lab/paper/metrics.h"

namespace turnpike::lab {

report::Chart chart_of(const ChartSpec& spec, const Experiment& experiment, const Metrics& metrics,
                       const std::string& out, ResultFiles& files);

/// Completion times by size: eight classes to a decade of bytes, the mean of each at its mean size,
/// with a bar from the 10th to the 90th percentile.
report::Series by_size(const Completions& completions);
/// The share of the values that are at most x, at up to 200 of them.
report::Series distribution(std::vector<double> values);
/// The mean completion time of the flows that ended in each interval of `every` s, at its end.
report::Series by_time(const Completions& completions, double every);

}  // namespace turnpike::lab
