// SPDX-License-Identifier: BSD-3-Clause
// Plays experiments: every run of every seed, and runs with deliberate mistakes.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "lab/batch/jobs.h"
#include "lab/child.h"
#include "lab/paper/mutants.h"
#include "lab/paper/show.h"

namespace turnpike::lab {

/// Below the root: counts a law's operations.
inline constexpr const char* kOperations = "lab/paper/operations.py";

struct ReproductionOptions {
  std::string root;    // the tree that holds the index
  std::string folder;  // for results
  unsigned jobs = 1;   // at a time
  bool mutants = false;
};

/// Plays the runs that take longest first, so that all processors are busy to the end, and those of
/// the same content once. Evaluates experiments, and prints each one's verdicts as soon as it and
/// all before it are evaluated. With mutants that is when all runs have ended.
class Reproduction {
 public:
  /// The experiments must outlive the object.
  Reproduction(ReproductionOptions options, Baseline baseline,
               const std::vector<const Experiment*>& experiments);

  /// Returns an error if a run's settings or its folder are wrong, or when interrupted. A run that
  /// fails is reported on standard error and counted.
  tl::expected<void, std::string> play();
  /// Evaluates what is in the folder instead, `failed` of whose runs have no result.
  void take(size_t failed);

  [[nodiscard]] const std::vector<EvaluatedExperiment>& evaluated() const { return evaluated_; }
  /// Runs played, mutated ones included.
  [[nodiscard]] size_t runs() const { return runs_; }
  [[nodiscard]] size_t failed() const { return failed_; }
  /// Mutated runs that failed, or took a minute of CPU time: they break no check.
  [[nodiscard]] size_t failed_mutants() const { return failed_mutants_; }

 private:
  using Done = tl::expected<void, std::string>;
  /// A run of an experiment, and the folder of its results.
  struct Place {
    size_t experiment = 0, run = 0;
    std::string folder = {};
  };
  /// A run of a seed, right or mutated. It is played in the first place and copied to the others.
  struct Played {
    Command command = {};
    bool mutant = false;
    double work = 0;  // CaseContent::work
    std::vector<Place> places = {};
  };

  Done add(size_t experiment, size_t run, uint64_t seed, const Mutation* mutation);
  /// The experiment's runs that have been played with the mutation, and ended well.
  [[nodiscard]] std::set<size_t> mutated_runs(const Experiment& experiment,
                                              Mutation mutation) const;
  Done play_added();
  Done play_mutants();
  void ended(const JobEnd& end);
  void evaluate_runs(EvaluatedExperiment& experiment) const;
  void print_evaluated();
  void clear_mutants();

  ReproductionOptions options_;
  Baseline baseline_;
  std::vector<EvaluatedExperiment> evaluated_;
  std::vector<std::vector<double>> seconds_;  // by experiment and run: the longest of its seeds
  std::vector<size_t> left_;                  // right runs, by experiment
  std::vector<Played> played_;                // to be played next
  std::map<std::string, size_t> contents_;    // of played_, by CaseContent::text
  size_t ended_ = 0;                          // of them
  size_t shown_ = 0, runs_ = 0, failed_ = 0, failed_mutants_ = 0;
};

}  // namespace turnpike::lab
