// SPDX-License-Identifier: BSD-3-Clause
// `turnpike paper [ID...]`: plays the papers' experiments and checks their claims.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "common/config/mistakes.h"
#include "common/parallel/threads.h"
#include "common/report/number.h"
#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/batch/plan.h"
#include "lab/cli/plan_options.h"
#include "lab/cli/verbs.h"
#include "lab/paper/plan_runs.h"
#include "lab/paper/reproduction.h"
#include "lab/program/stopwatch.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "lab/paper/experiments";
constexpr const char* kPaper = "paper";
constexpr const char* kBaseline = "lab/paper/baseline.json";

struct PaperOptions {
  std::vector<std::string> ids;
  std::string folder = "out/paper", page, baseline, root;
  PlanOptions runs;
  bool quick = false, update = false, mutants = false;
};

int complain_of(const std::string& what) { return complain(kPaper, kExitRuntime, what); }

/// The tree that holds the index, below the current folder or near the program; empty if none does.
std::string find_root() {
  std::error_code ignored;
  const fs::path here = fs::path(own_executable()).parent_path();
  for (const fs::path& root : {fs::path("."), here / "../..", here / "../share/turnpike"})
    if (fs::exists(root / kIndex, ignored)) return root.lexically_normal().string();
  return "";
}

/// The experiments asked for, in the index's order; nothing if the index lacks one of them.
std::vector<const Experiment*> select(const std::vector<Experiment>& all, const PaperOptions& o) {
  std::vector<const Experiment*> chosen;
  for (const Experiment& e : all) {
    const bool named = std::ranges::find(o.ids, e.id) != o.ids.end();
    if (named || (o.ids.empty() && (e.is_short || !o.quick))) chosen.push_back(&e);
  }
  for (const std::string& id : o.ids)
    if (std::ranges::find(all, id, &Experiment::id) == all.end()) {
      std::vector<std::string_view> known;
      known.reserve(all.size());
      for (const Experiment& e : all) known.push_back(e.id);
      std::string text = "there is no experiment '" + id + "'" + config::suggestion(id, known);
      if (config::nearest(id, known).empty()) {
        text += "; there are";
        for (const std::string_view k : known) text.append(" ").append(k);
      }
      complain_of(text);
      return {};
    }
  return chosen;
}

/// The experiments that a plan is of.
std::vector<std::string> ids_of(const Plan& plan) {
  std::vector<std::string> ids;
  for (const auto& id : plan.purpose())
    if (id.is_string()) ids.push_back(id);
  return ids;
}

/// Writes a plan of the runs, or also has an engine run them, or gathers the results of one that
/// was written before. Nothing: the results are there for the evaluation; else the exit code.
std::optional<int> run_planned(const PaperOptions& o, const std::vector<const Experiment*>& chosen,
                               size_t& failed) {
  const bool only_plan = !o.runs.plan.empty(), only_gather = !o.runs.collect.empty();
  nlohmann::json ids = nlohmann::json::array();
  for (const Experiment* e : chosen) ids.push_back(e->id);
  Plan plan(only_plan ? o.runs.plan : o.folder, std::move(ids));
  if (const auto added = add_runs(chosen, o.root, plan); !added) return complain_of(added.error());
  if (!only_gather)
    if (const auto written = plan.write(); !written)
      return complain(kPaper, kExitHostNotReady, written.error());
  if (only_plan) {
    print_plan(plan, kPaper);
    return kExitOk;
  }
  PlanOutcome outcome = outcome_of(plan);
  if (!only_gather) {
    auto run = run_plan(plan, o.runs.engine, kPaper);
    if (!run) return complain_of(run.error());
    outcome = std::move(*run);
  }
  complain_of_failures(plan, outcome, kPaper);
  failed = outcome.failed.size();
  if (const auto placed = place_results(chosen, plan); !placed) return complain_of(placed.error());
  return std::nullopt;
}

int paper(PaperOptions o) {
  if (o.runs.task) return run_one(o.runs, kPaper);
  if (!o.runs.collect.empty()) {
    o.folder = o.runs.collect;
    const auto plan = Plan::read(o.folder);
    if (!plan) return complain(kPaper, kExitBadConfiguration, plan.error());
    if (o.ids.empty() && !o.quick) o.ids = ids_of(*plan);
  }
  const Stopwatch watch;
  o.root = find_root();
  if (o.root.empty()) return complain_of(std::string("there is no ") + kIndex + " here");
  const auto index = read_index(o.root + "/" + kIndex, o.root);
  if (!index) {
    for (const config::Mistake& m : index.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
    return kExitBadConfiguration;
  }
  if (!o.baseline.empty() && !o.update && !std::filesystem::exists(o.baseline))
    return complain(kPaper, kExitUsage, o.baseline + ": no such file");
  if (o.baseline.empty()) o.baseline = o.root + "/" + kBaseline;
  if (o.page.empty()) o.page = o.folder + "/paper.html";
  auto baseline = Baseline::read(o.baseline);
  if (!baseline) return complain_of(baseline.error());
  const auto chosen = select(*index, o);
  if (chosen.empty()) return kExitUsage;

  const bool planned = o.runs.distributed || !o.runs.plan.empty() || !o.runs.collect.empty();
  size_t failed = 0;
  if (planned) {
    if (const auto code = run_planned(o, chosen, failed)) return *code;
  } else if (const auto prepared = report::prepare_folder(o.folder); !prepared) {
    return complain(kPaper, kExitHostNotReady, prepared.error());
  }
  Reproduction reproduction({o.root, o.folder, o.runs.engine.jobs, o.mutants}, *baseline, chosen);
  if (planned)
    reproduction.take(failed);
  else if (const auto played = reproduction.play(); !played)
    return complain_of(played.error());

  const auto& evaluated = reproduction.evaluated();
  std::vector<std::string> wrong, survivors;
  bool lost = false;
  for (const EvaluatedExperiment& e : evaluated) {
    std::ranges::move(faults(e.evaluation), std::back_inserter(wrong));
    std::ranges::move(unbroken(e.evaluation), std::back_inserter(survivors));
    e.evaluation.each([&](const CheckResult& c) { lost |= c.lost; });
  }
  for (const std::string& fault : wrong) complain_of(fault);
  for (const std::string& survivor : survivors)
    complain_of(survivor + (o.mutants ? "" : "; --mutants plays them"));
  std::printf("%s; %zu run%s, %zu failed, %s s. Page: %s\n", count_text(evaluated).c_str(),
              reproduction.runs(), reproduction.runs() == 1 ? "" : "s", reproduction.failed(),
              report::fixed(watch.seconds(), 1).c_str(), o.page.c_str());
  if (const size_t failed = reproduction.failed_mutants(); failed > 0)
    std::printf("%zu mutated run%s failed, and broke no check\n", failed, failed == 1 ? "" : "s");
  if (auto done =
          report::write_text(o.page, paper_page(evaluated, o.folder, Threads(o.runs.engine.jobs)));
      !done)
    return complain_of(done.error());
  const bool right = reproduction.failed() == 0 && wrong.empty();
  if (o.update && right) {
    for (const EvaluatedExperiment& e : evaluated) baseline->update(e.experiment->id, e.evaluation);
    if (auto done = report::write_text(o.baseline, baseline->text()); !done)
      return complain_of(done.error());
    return kExitOk;
  }
  return lost || !right || !survivors.empty() ? kExitRuntime : kExitOk;
}

}  // namespace

void add_paper(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "paper",
      "run the papers' experiments in the lab and compare them with the papers' claims; fails "
      "when a check that the baseline has is no longer met, or when no mutation is known to break "
      "it");
  auto o = std::make_shared<PaperOptions>();
  verb->add_option("ID", o->ids, "experiments, such as fcp-fig4 (default: all)");
  verb->add_flag("--short", o->quick, "only those that are quick");
  verb->add_option("--html", o->page, "page to write (default: paper.html among the results)")
      ->type_name("FILE");
  auto* out = verb->add_option("--out", o->folder, "folder for results")
                  ->type_name("DIR")
                  ->capture_default_str();
  add_plan_options(*verb, o->runs);
  verb->add_option("--baseline", o->baseline, std::string("default: ") + kBaseline)
      ->type_name("FILE");
  verb->add_flag("--update-baseline", o->update, "write the checks met now into the baseline");
  verb->add_flag("--mutants", o->mutants,
                 "also play runs with deliberate mistakes, and name the checks that none of them "
                 "breaks");
  verb->callback([o, out, &code] {
    check_plan_options(o->runs, *out);
    if (o->mutants && (o->runs.distributed || !o->runs.plan.empty() || !o->runs.collect.empty()))
      throw CLI::ValidationError("--mutants", "plays its runs in rounds, without a plan");
    code = static_cast<ExitCode>(paper(*o));
  });
}

}  // namespace turnpike::lab
