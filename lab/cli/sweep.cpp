// SPDX-License-Identifier: BSD-3-Clause
// `turnpike sweep FILE`: the lab over all combinations of settings and seeds.
#include "lab/sweep/sweep.h"

#include <cstdio>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

#include "common/report/whole_file.h"
#include "lab/batch/engine.h"
#include "lab/batch/plan.h"
#include "lab/cli/plan_options.h"
#include "lab/cli/verbs.h"

namespace turnpike::lab {
namespace {

constexpr const char* kSweep = "sweep";

struct SweepOptions {
  std::string file, folder = "out/sweep";
  std::vector<Axis> axes;
  std::vector<uint64_t> seeds{1};
  std::vector<std::string> metrics;
  PlanOptions runs;
};

/// Reports once the mistakes that every run would report.
bool fits(const std::string& file, const std::vector<config::Setting>& settings) {
  const auto loaded = config::load_file(file, settings);
  if (loaded) return true;
  for (const config::Mistake& m : loaded.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
  return false;
}

std::string name_of(const std::vector<config::Setting>& settings, uint64_t seed) {
  return settings_text(settings) + (settings.empty() ? "" : ", ") + "seed " + std::to_string(seed);
}

/// Writes the table, the figures as CSV and JSON, and the page into the plan's folder.
ExitCode gather(const Plan& plan, const PlanOutcome& outcome) {
  auto sweep = sweep_of(plan);
  if (!sweep) return complain(kSweep, kExitRuntime, sweep.error());
  complain_of_failures(plan, outcome, kSweep);
  for (const std::string& metric : metrics_without_values(*sweep))
    std::fprintf(stderr, "%s: --metric %s: no run has a number there\n", kSweep, metric.c_str());
  std::fputs(sweep_text(*sweep).c_str(), stdout);
  const std::string stem = plan.folder() + "/sweep";
  for (const auto& [suffix, text] : {std::pair(".csv", sweep_csv(*sweep)),
                                     {".json", sweep_json(*sweep).dump(2) + "\n"},
                                     {".html", sweep_page(*sweep)}})
    if (const auto done = report::write_text(stem + suffix, text); !done)
      return complain(kSweep, kExitRuntime, done.error());
  std::printf("\n%zu run%s, %zu failed. Page: %s.html\n", outcome.total,
              outcome.total == 1 ? "" : "s", outcome.failed.size(), stem.c_str());
  return outcome.failed.empty() ? kExitOk : kExitRuntime;
}

ExitCode gather_plan(const std::string& folder) {
  const auto plan = Plan::read(folder);
  return plan ? gather(*plan, outcome_of(*plan))
              : complain(kSweep, kExitBadConfiguration, plan.error());
}

ExitCode sweep(const SweepOptions& o) {
  if (!o.runs.collect.empty()) return gather_plan(o.runs.collect);
  if (o.runs.task) return run_one(o.runs, kSweep);
  const bool only_plan = !o.runs.plan.empty();
  Plan plan(only_plan ? o.runs.plan : o.folder,
            purpose_of({.file = o.file, .axes = o.axes, .seeds = o.seeds, .metrics = o.metrics}));
  const auto all = combinations(o.axes);
  for (const auto& settings : all)
    if (!fits(o.file, settings)) return kExitBadConfiguration;
  for (const auto& settings : all)
    for (const uint64_t seed : o.seeds)
      if (auto added = plan.add(name_of(settings, seed), {o.file, settings, seed}); !added)
        return complain(kSweep, kExitBadConfiguration, added.error());
  if (const auto written = plan.write(); !written)
    return complain(kSweep, kExitHostNotReady, written.error());
  if (only_plan) {
    print_plan(plan, kSweep);
    return kExitOk;
  }
  const auto outcome = run_plan(plan, o.runs.engine, kSweep);
  return outcome ? gather(plan, *outcome) : complain(kSweep, kExitRuntime, outcome.error());
}

}  // namespace

void add_sweep(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "sweep",
      "run a topology in the lab with every combination of settings and seeds, and gather the "
      "results; runs that have a result of the same inputs are not run again");
  auto o = std::make_shared<SweepOptions>();
  auto* file = verb->add_option("FILE", o->file, "topology file (YAML)");
  verb->add_option_function<std::vector<std::string>>(
          "--set",
          [o](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto axis = parse_axis(text);
              if (!axis)
                throw CLI::ValidationError("--set", "'" + text + "' is not PATH=VALUE,VALUE,...");
              if (axis->path == "run.seed")
                throw CLI::ValidationError("--set", "run.seed is set by --seeds");
              o->axes.push_back(std::move(*axis));
            }
          },
          "values to try in turn, such as links.bottleneck.rate='10 Mbps,1 Gbps'; may be repeated")
      ->type_name("PATH=VALUE,...")
      ->allow_extra_args(false);
  verb->add_option_function<std::string>(
          "--seeds",
          [o](const std::string& text) {
            auto seeds = parse_seeds(text);
            if (!seeds) throw CLI::ValidationError("\"" + text + "\" is not such as 1..8 or 1,5");
            o->seeds = std::move(*seeds);
          },
          "such as 1..8 (default: 1)")
      ->type_name("FIRST..LAST");
  verb->add_option("--metric", o->metrics,
                   "path in the summary, such as flows.afct_s; may be repeated (default: results "
                   "of links with a law, flows and hosts)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  auto* out = verb->add_option("--out", o->folder, "folder for the plan and the results")
                  ->type_name("DIR")
                  ->capture_default_str();
  add_plan_options(*verb, o->runs);
  verb->callback([o, file, out, &code] {
    check_plan_options(o->runs, *out);
    const bool whole = o->runs.collect.empty() && !o->runs.task;
    if (file->empty() == whole)
      throw CLI::ValidationError("FILE",
                                 "give a topology file, or --plan with --task, or --collect");
    code = sweep(*o);
  });
}

}  // namespace turnpike::lab
