// SPDX-License-Identifier: BSD-3-Clause
// Reads series from a run's folder.
#pragma once

#include <string>
#include <vector>

#include "lab/paper/index.h"
#include "lab/paper/result_files.h"

namespace turnpike::lab {

/// The folder of a run's results.
std::string run_folder(const std::string& out, const Experiment& experiment, const RunSpec& run,
                       uint64_t seed);

/// x in s: the end of the interval that y stands for.
struct Samples {
  std::vector<double> x, y;
};

/// Empty where the folder has no such file, name or column; cells that are no numbers are left out.
Samples read_samples(ResultFiles& files, const std::string& folder, const SeriesSpec& spec);

/// Means over intervals of `every` from `from` on; x is their end.
Samples binned(const Samples& samples, double from, double every);

/// Flows in the order of their ends: sizes in B, completion times and ends in s.
struct Completions {
  std::vector<double> bytes, seconds, ends;
};

/// Flows completed in (from, to] s.
Completions read_completions(ResultFiles& files, const std::string& folder, double from = 0,
                             double to = kOpenEnd);

}  // namespace turnpike::lab
