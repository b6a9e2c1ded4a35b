// SPDX-License-Identifier: BSD-3-Clause
// Renders the results of experiments, for a terminal and as a page.
#pragma once

#include <string>
#include <vector>

#include "lab/paper/claims.h"

namespace turnpike::lab {

/// An experiment that has been played, with its metrics and evaluated claims.
struct EvaluatedClaims {
  const Experiment* experiment = nullptr;
  Metrics metrics = {};
  std::vector<ClaimResult> results = {};
  double wall_s = 0;
};

/// A line per claim: figure, metric, paper, here, claim, met or not.
std::string verdict_lines(const EvaluatedClaims& evaluated);

/// "61 of 64 claims met".
std::string count_text(const std::vector<EvaluatedClaims>& all);

/// One self-contained page with the claims and charts of every figure; `out` holds the runs.
std::string paper_page(const std::vector<EvaluatedClaims>& all, const std::string& out);

}  // namespace turnpike::lab
