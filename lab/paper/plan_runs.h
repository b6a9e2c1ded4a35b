// SPDX-License-Identifier: BSD-3-Clause
// The runs of experiments as tasks of a plan.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "lab/batch/plan.h"
#include "lab/paper/index.h"

namespace turnpike::lab {

/// Adds every run of every seed. `root`: the tree that holds the index. The error: a run's file or
/// settings are wrong.
tl::expected<void, std::string> add_runs(const std::vector<const Experiment*>& experiments,
                                         const std::string& root, Plan& plan);

/// Puts a run's files into another folder as well, in place of its contents.
tl::expected<void, std::string> copy_result(const std::string& from, const std::string& to);

/// Puts the results that there are in the places where the evaluation looks for them, below the
/// plan's folder. The plan has the tasks of add_runs() with the same experiments.
tl::expected<void, std::string> place_results(const std::vector<const Experiment*>& experiments,
                                              const Plan& plan);

}  // namespace turnpike::lab
