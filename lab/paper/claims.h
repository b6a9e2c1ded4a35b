// SPDX-License-Identifier: BSD-3-Clause
// Evaluates the claims of experiments, and compares them with the baseline.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "lab/paper/metrics.h"

namespace turnpike::lab {

/// An evaluated claim, formatted for output.
struct ClaimResult {
  std::string experiment, figure;
  std::string metric, paper, here, bound;  // with their units
  std::string why = {};                    // of a claim that is not met
  bool met = false;
  bool lost = false;  // not met, but the baseline has it met

  /// The key of the claim in the baseline.
  [[nodiscard]] std::string claim() const { return metric + " " + bound; }
};

/// A metric in the unit in which it is shown and claimed.
double shown(const MetricSpec& metric, const Metrics& metrics);
/// A metric with its unit; "never" for infinity.
std::string shown_text(double v, const MetricSpec& metric);

/// Claims in the order of the index.
std::vector<ClaimResult> evaluate(const Experiment& experiment, const Metrics& metrics);

/// Claims met at some time: [{id, claim, met}, ...].
class Baseline {
 public:
  /// A missing file is an empty baseline; a file with other contents is an error.
  static tl::expected<Baseline, std::string> read(const std::string& path);
  static tl::expected<Baseline, std::string> parse(const std::string& text);

  /// Sets `lost` of claims that are not met now and are met in the baseline.
  void compare(std::vector<ClaimResult>& results) const;
  /// Replaces the baseline's claims of the same experiments by these results.
  void update(const std::vector<ClaimResult>& results);
  /// Contents of the baseline's file, sorted so that a diff shows single claims.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::pair<std::string, std::string>, bool> met_;
};

}  // namespace turnpike::lab
