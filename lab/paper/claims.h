// SPDX-License-Identifier: BSD-3-Clause
// Whether what should come out came out, now and at the time of the baseline.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "lab/paper/metrics.h"

namespace turnpike::lab {

/// A claim, judged, as people are shown it.
struct ClaimResult {
  std::string experiment, figure;
  std::string metric, paper, here, bound;  // with their units
  std::string why = {};                    // of a claim that is not met
  bool met = false;
  bool lost = false;  // not met, but the baseline has it met

  /// What the baseline knows it by.
  [[nodiscard]] std::string claim() const { return metric + " " + bound; }
};

/// A metric in the unit in which it is shown and claimed.
double shown(const MetricSpec& metric, const Metrics& metrics);
/// With its unit; "never" of infinity.
std::string shown_text(double v, const MetricSpec& metric);

/// In the order of the index.
std::vector<ClaimResult> evaluate(const Experiment& experiment, const Metrics& metrics);

/// Claims met at some time: [{id, claim, met}, ...].
class Baseline {
 public:
  /// A file that is not there is an empty baseline; one that is none is an error.
  static tl::expected<Baseline, std::string> read(const std::string& path);
  static tl::expected<Baseline, std::string> parse(const std::string& text);

  /// Marks what is lost.
  void compare(std::vector<ClaimResult>& results) const;
  /// Takes these results in place of all that it knew of their experiments.
  void update(const std::vector<ClaimResult>& results);
  /// Its file, sorted, so that changes are seen line by line.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::pair<std::string, std::string>, bool> met_;
};

}  // namespace turnpike::lab
