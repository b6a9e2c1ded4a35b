// SPDX-License-Identifier: BSD-3-Clause
#include "lab/cli/plan_options.h"

#include <cstdio>
#include <utility>

namespace turnpike::lab {

void add_plan_options(CLI::App& verb, PlanOptions& o) {
  verb.add_option("--jobs", o.engine.jobs,
                  "runs at a time, on each host (default: one more than processors)")
      ->check(CLI::Range(1, 1024));
  verb.add_option_function<std::string>(
          "--on",
          [&o](const std::string& text) {
            auto engine = Engine::parse(text);
            if (!engine)
              throw CLI::ValidationError("--on", "'" + text + "' is not local, slurm or ssh:HOSTS");
            o.engine.kind = engine->kind;
            o.engine.hosts = std::move(engine->hosts);
            o.distributed = true;
          },
          "what runs them: local (default), slurm (a job array) or ssh:HOSTS (GNU parallel), on "
          "machines that have this program and the folder at the same paths")
      ->type_name("ENGINE");
  verb.add_option("--engine-option", o.engine.options,
                  "for sbatch or parallel, such as --partition=long; may be repeated")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  verb.add_option("--plan", o.plan,
                  "write a plan of the runs there, and run none; with --task: the plan's folder")
      ->type_name("DIR");
  verb.add_option("--task", o.task, "run this task of the plan, counted from 0")->type_name("N");
  verb.add_option("--collect", o.collect, "gather the results of the plan in this folder")
      ->type_name("DIR");
}

void check_plan_options(const PlanOptions& o, const CLI::Option& out) {
  if (o.task && o.plan.empty()) throw CLI::ValidationError("--task", "needs --plan");
  if (!o.collect.empty() && !o.plan.empty())
    throw CLI::ValidationError("--collect", "excludes --plan");
  if (out.count() > 0 && (!o.plan.empty() || !o.collect.empty()))
    throw CLI::ValidationError("--out", "excludes --plan and --collect, which name a folder");
}

void print_plan(const Plan& plan, const std::string& verb) {
  const char* const folder = plan.folder().c_str();
  std::printf(
      "%zu task%s, %zu of them without a result: turnpike %s --plan %s --task N runs task N, "
      "from 0 on; turnpike %s --collect %s gathers the results\n",
      plan.tasks().size(), plan.tasks().size() == 1 ? "" : "s", plan.unfinished().size(),
      verb.c_str(), folder, verb.c_str(), folder);
}

ExitCode complain(const std::string& verb, ExitCode code, const std::string& why) {
  std::fprintf(stderr, "turnpike %s: %s\n", verb.c_str(), why.c_str());
  return code;
}

void complain_of_failures(const Plan& plan, const PlanOutcome& outcome, const std::string& verb) {
  for (const size_t task : outcome.failed) {
    std::string why = plan.failure(task);
    while (!why.empty() && why.back() == '\n') why.pop_back();
    complain(verb, kExitRuntime,
             plan.tasks()[task].name + ": " + (why.empty() ? "was not run" : why));
  }
}

ExitCode run_one(const PlanOptions& o, const std::string& verb) {
  auto plan = Plan::read(o.plan);
  if (!plan) return complain(verb, kExitBadConfiguration, plan.error());
  const size_t task = *o.task, count = plan->tasks().size();
  if (task >= count)
    return complain(verb, kExitUsage,
                    "there is no task " + std::to_string(task) + ": the plan has " +
                        std::to_string(count) + ", counted from 0");
  const std::string why = run_task(*plan, task);
  return why.empty() ? kExitOk
                     : complain(verb, kExitRuntime, plan->tasks()[task].name + ": " + why);
}

}  // namespace turnpike::lab
