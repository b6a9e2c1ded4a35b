// SPDX-License-Identifier: BSD-3-Clause
// Evaluates the checks of experiments, and compares them with the baseline.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "lab/paper/metrics.h"

namespace turnpike::lab {

/// An evaluated check, formatted for output.
struct CheckResult {
  std::string experiment;
  std::string metric, paper, model, here, bound;  // with their units
  std::string other = {};                         // value of the metric that `bound` names
  std::string wider = {};                         // why the bound is wider than the paper's
  std::string why = {};                           // of a check that is not met
  bool met = false;
  bool lost = false;           // not met, but the baseline has it met
  std::string broken_by = {};  // a mutation of a run that breaks it; empty: none is known

  /// The key of the check in the baseline.
  [[nodiscard]] std::string check() const { return metric + " " + bound; }
};

struct ClaimResult {
  const ClaimSpec* claim = nullptr;
  std::vector<CheckResult> checks = {};

  [[nodiscard]] bool met() const { return std::ranges::all_of(checks, &CheckResult::met); }
};

/// The paper's claims and our own checks, each in the order of the index.
struct Evaluation {
  std::vector<ClaimResult> claims = {};
  std::vector<CheckResult> own = {};

  /// Calls `call` with every check.
  template <class Call>
  void each(const Call& call) const {
    for (const ClaimResult& claim : claims) std::ranges::for_each(claim.checks, call);
    std::ranges::for_each(own, call);
  }
  template <class Call>
  void each(const Call& call) {
    for (ClaimResult& claim : claims) std::ranges::for_each(claim.checks, call);
    std::ranges::for_each(own, call);
  }
};

/// A metric in the unit in which it is shown and claimed.
double shown(const MetricSpec& metric, const Metrics& metrics);
/// A metric with its unit; "never" for infinity.
std::string shown_text(double v, const MetricSpec& metric);

Evaluation evaluate(const Experiment& experiment, const Metrics& metrics);

/// Mistakes of the index that results show: a check that is met and has a reason for not being met,
/// or is not met and has none.
std::vector<std::string> faults(const Evaluation& evaluation);
/// Checks that are met and that no mutation is known to break: they may be unable to fail.
std::vector<std::string> unbroken(const Evaluation& evaluation);

/// Checks met at some time: [{id, check, met, broken_by}, ...].
class Baseline {
 public:
  /// A missing file is an empty baseline; a file with other contents is an error.
  static tl::expected<Baseline, std::string> read(const std::string& path);
  static tl::expected<Baseline, std::string> parse(const std::string& text);

  /// Sets `lost` of checks that are not met now and are met in the baseline.
  void compare(Evaluation& evaluation) const;
  /// Sets `broken_by` of checks that are met as the baseline has it. Where mutations have been
  /// played, theirs is the newer verdict.
  void recall_mutants(Evaluation& evaluation) const;
  /// Replaces the baseline's checks of the experiment by these results.
  void update(const std::string& experiment, const Evaluation& evaluation);
  /// Contents of the baseline's file, sorted so that a diff shows single claims.
  [[nodiscard]] std::string text() const;

 private:
  struct Known {
    bool met = false;
    std::string broken_by = {};
  };
  std::map<std::pair<std::string, std::string>, Known> known_;  // by experiment and check
};

}  // namespace turnpike::lab
