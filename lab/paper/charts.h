// SPDX-License-Identifier: BSD-3-Clause
// Draws the papers' figures from the results of runs.
#pragma once

#include <string>

#include "common/report/chart.h"
#include "lab/paper/metrics.h"

namespace turnpike::lab {

report::Chart chart_of(const ChartSpec& spec, const Experiment& experiment, const Metrics& metrics,
                       const std::string& out);

/// Completion times by size: eight classes to a decade of bytes, the mean of each at its mean size,
/// with a bar from the 10th to the 90th percentile.
report::Series by_size(const Samples& completions);

}  // namespace turnpike::lab
