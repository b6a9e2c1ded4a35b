// SPDX-License-Identifier: BSD-3-Clause
// Runs the tasks of a plan: on this machine, or by an engine that distributes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "lab/batch/plan.h"

namespace turnpike::lab {

struct Engine {
  enum class Kind : uint8_t {
    kLocal,
    kSlurm,  // a job array of Slurm's
    kSsh,    // GNU parallel, over ssh
  };
  Kind kind = Kind::kLocal;
  std::string hosts = {};                 // of kSsh, as GNU parallel's --sshlogin takes them
  unsigned jobs = 1;                      // of kLocal, and of each host of kSsh, at a time
  std::vector<std::string> options = {};  // for sbatch or parallel, such as --time=10

  /// "local", "slurm" or "ssh:HOSTS".
  static std::optional<Engine> parse(std::string_view text);
};

struct PlanOutcome {
  size_t total = 0, finished = 0;
  std::vector<size_t> failed;  // tasks without a result, and why: Plan::failure()
};

/// Which tasks have a result.
PlanOutcome outcome_of(const Plan& plan);

/// Runs all unfinished tasks; with kSlurm and kSsh by commands `verb` --plan FOLDER --task N of
/// this program, on machines that share the plan's folder and the program's path. Shows progress on
/// a terminal, with an estimate of the time left, and writes it to progress.json in the folder. The
/// error: the engine cannot run them, or an interrupt: then what ran has been ended.
tl::expected<PlanOutcome, std::string> run_plan(Plan& plan, const Engine& engine,
                                                const std::string& verb);
/// Runs one task, unless it has a result. Returns why there is none; empty: there is one.
std::string run_task(Plan& plan, size_t task);

}  // namespace turnpike::lab
