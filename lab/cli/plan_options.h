// SPDX-License-Identifier: BSD-3-Clause
// Options of verbs whose runs are tasks of a plan.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "common/config/exit_codes.h"
#include "lab/batch/engine.h"
#include "lab/batch/jobs.h"

namespace turnpike::lab {

struct PlanOptions {
  Engine engine{.jobs = runs_at_once()};
  bool distributed = false;    // --on was given
  std::string plan, collect;   // folders of plans
  std::optional<size_t> task;  // of `plan`
};

/// Adds --jobs, --on, --engine-option, --plan, --task and --collect.
void add_plan_options(CLI::App& verb, PlanOptions& options);
/// Call in the verb's callback: throws CLI::ValidationError where options exclude each other.
/// `out`: the option with the folder of results, which the folder of a plan replaces.
void check_plan_options(const PlanOptions& options, const CLI::Option& out);

/// Says that a plan has been written, and what runs it.
void print_plan(const Plan& plan, const std::string& verb);
/// Runs a task of the plan in a folder.
ExitCode run_one(const PlanOptions& options, const std::string& verb);
/// Prints "turnpike VERB: WHY" as an error; returns `code`.
ExitCode complain(const std::string& verb, ExitCode code, const std::string& why);
/// Prints why tasks have no result.
void complain_of_failures(const Plan& plan, const PlanOutcome& outcome, const std::string& verb);

}  // namespace turnpike::lab
