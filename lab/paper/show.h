// SPDX-License-Identifier: BSD-3-Clause
// Renders the results of experiments, for a terminal and as a page.
#pragma once

#include <string>
#include <vector>

#include "common/parallel/threads.h"
#include "lab/paper/claims.h"

namespace turnpike::lab {

/// An experiment that has been played, with its metrics, claims and checks.
struct EvaluatedExperiment {
  const Experiment* experiment = nullptr;
  Metrics metrics = {};
  Evaluation evaluation = {};
  double wall_s = 0;
};

/// A line per check: claim, metric, paper, here, bound, met or not.
std::string verdict_lines(const EvaluatedExperiment& evaluated);

/// "61 of 64 claims of the papers met, 12 of 12 checks of our own".
std::string count_text(const std::vector<EvaluatedExperiment>& all);

/// One self-contained page with the claims and charts of every figure; `out` holds the runs.
std::string paper_page(const std::vector<EvaluatedExperiment>& all, const std::string& out,
                       const Threads& threads);

}  // namespace turnpike::lab
