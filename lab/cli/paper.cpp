// SPDX-License-Identifier: BSD-3-Clause
// `turnpike paper [ID...]`: plays the papers' experiments and checks their claims.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "common/config/mistakes.h"
#include "common/report/number.h"
#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/batch/jobs.h"
#include "lab/cli/verbs.h"
#include "lab/paper/mutants.h"
#include "lab/paper/schemes.h"
#include "lab/paper/show.h"
#include "lab/program/stopwatch.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "lab/paper/experiments";
constexpr const char* kBaseline = "lab/paper/baseline.json";
constexpr const char* kOperations = "lab/paper/operations.py";

struct PaperOptions {
  std::vector<std::string> ids;
  std::string folder = "out/paper", page, baseline, root;
  unsigned jobs = processors();
  bool quick = false, update = false, mutants = false;
};

int complain(const std::string& what) {
  std::fprintf(stderr, "turnpike paper: %s\n", what.c_str());
  return kExitRuntime;
}

/// The tree that holds the index, below the current folder or near the program; empty if none does.
std::string find_root() {
  std::error_code ignored;
  const fs::path here = fs::path(own_executable()).parent_path();
  for (const fs::path& root : {fs::path("."), here / "../..", here / "../share/turnpike"})
    if (fs::exists(root / kIndex, ignored)) return root.lexically_normal().string();
  return "";
}

/// Plays experiments, and prints each as soon as it and all before it have ended.
class Reproduction {
 public:
  Reproduction(const PaperOptions& o, Baseline baseline) : o_(o), baseline_(std::move(baseline)) {}

  bool add(const Experiment& e) {
    evaluated_.push_back({.experiment = &e});
    left_.push_back(0);
    for (const RunSpec& run : e.runs) {
      if (!add(e, run, settings_of(run), run.seeds, o_.folder, "")) return false;
      if (!o_.mutants) continue;
      for (size_t i = 0; i < kMutations.size(); ++i) {
        const auto mutation = static_cast<Mutation>(i);
        if (!add(e, run, mutated(run, mutation), {run.seeds[0]},
                 mutants_folder(o_.folder, mutation), ", " + std::string(kMutations[i])))
          return false;
      }
    }
    return true;
  }

  /// Returns false when interrupted.
  bool play() {
    tell();
    const bool watched = isatty(STDERR_FILENO) != 0;
    size_t ended = 0;
    return run_jobs(commands_, o_.jobs, [&](const JobEnd& end) {
      const size_t i = experiment_of_[end.job];
      if (watched) std::fprintf(stderr, "\r%zu of %zu runs\r", ++ended, commands_.size());
      if (!end.why.empty() && !is_mutant_[end.job]) {
        ++failed_;
        complain(commands_[end.job].name + ": " + end.why);
      }
      evaluated_[i].wall_s += end.wall_s;
      --left_[i];
      tell();
    });
  }

  [[nodiscard]] const std::vector<EvaluatedExperiment>& evaluated() const { return evaluated_; }
  [[nodiscard]] size_t failed() const { return failed_; }
  [[nodiscard]] size_t runs() const { return commands_.size(); }

 private:
  using Settings = tl::expected<std::vector<config::Setting>, std::vector<config::Mistake>>;

  /// Adds the runs of all seeds to the last experiment.
  bool add(const Experiment& e, const RunSpec& run, const Settings& settings,
           const std::vector<uint64_t>& seeds, const std::string& out,
           const std::string& mutation) {
    const std::string name = e.id + ", " + run.name + mutation;
    if (!settings) return complain(name + ": " + settings.error()[0].text()) == kExitOk;
    for (const uint64_t seed : seeds) {
      const std::string folder = run_folder(out, e, run, seed);
      clear(folder);
      auto command = command_for({run.file, *settings, seed, folder}, own_executable());
      if (!command) return complain(command.error()) == kExitOk;
      if (!run.count.empty())
        command->argv.insert(command->argv.begin(),
                             {o_.root + "/" + kOperations, run.count, folder});
      command->name = name + ", seed " + std::to_string(seed);
      commands_.push_back(std::move(*command));
      experiment_of_.push_back(evaluated_.size() - 1);
      is_mutant_.push_back(!mutation.empty());
      ++left_.back();
    }
    return true;
  }

  /// Removes the results of an earlier run, which could be mistaken for this run's.
  static void clear(const std::string& folder) {
    std::error_code ignored;
    for (const char* name : {"summary.json", "links.csv", "rates.csv", "flows.csv"})
      fs::remove(fs::path(folder) / name, ignored);
  }

  void tell() {
    for (; shown_ < evaluated_.size() && left_[shown_] == 0; ++shown_) {
      EvaluatedExperiment& e = evaluated_[shown_];
      e.metrics = metrics_of(*e.experiment, o_.folder);
      e.evaluation = evaluate(*e.experiment, e.metrics);
      if (o_.mutants) break_checks(*e.experiment, e.metrics, o_.folder, e.evaluation);
      baseline_.compare(e.evaluation);
      std::printf("%s: %s (%s s)\n%s\n", e.experiment->id.c_str(), e.experiment->title.c_str(),
                  report::fixed(e.wall_s, 1).c_str(), verdict_lines(e).c_str());
      std::fflush(stdout);
    }
  }

  const PaperOptions& o_;
  const Baseline baseline_;
  std::vector<EvaluatedExperiment> evaluated_;
  std::vector<Command> commands_;
  std::vector<size_t> experiment_of_;  // by command
  std::vector<bool> is_mutant_;        // by command; such a run may fail
  std::vector<std::ptrdiff_t> left_;   // runs, by experiment
  size_t shown_ = 0, failed_ = 0;
};

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
      complain(text);
      return {};
    }
  return chosen;
}

int paper(PaperOptions o) {
  const Stopwatch watch;
  o.root = find_root();
  if (o.root.empty()) return complain(std::string("there is no ") + kIndex + " here");
  const auto index = read_index(o.root + "/" + kIndex, o.root);
  if (!index) {
    for (const config::Mistake& m : index.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
    return kExitBadConfiguration;
  }
  if (o.baseline.empty()) o.baseline = o.root + "/" + kBaseline;
  if (o.page.empty()) o.page = o.folder + "/paper.html";
  auto baseline = Baseline::read(o.baseline);
  if (!baseline) return complain(baseline.error());
  const auto chosen = select(*index, o);
  if (chosen.empty()) return kExitUsage;

  if (const auto prepared = report::prepare_folder(o.folder); !prepared) {
    complain(prepared.error());
    return kExitHostNotReady;
  }
  Reproduction reproduction(o, *baseline);
  for (const Experiment* e : chosen)
    if (!reproduction.add(*e)) return kExitRuntime;
  if (!reproduction.play()) return complain("interrupted");

  const auto& evaluated = reproduction.evaluated();
  std::vector<std::string> wrong, survivors;
  bool lost = false;
  for (const EvaluatedExperiment& e : evaluated) {
    std::ranges::move(faults(e.evaluation), std::back_inserter(wrong));
    if (o.mutants || baseline->has_mutants(e.experiment->id))
      std::ranges::move(unbroken(e.evaluation), std::back_inserter(survivors));
    e.evaluation.each([&](const CheckResult& c) { lost |= c.lost; });
  }
  for (const std::string& fault : wrong) complain(fault);
  for (const std::string& survivor : survivors) complain(survivor);
  std::printf("%s; %zu run%s, %zu failed, %s s. Page: %s\n", count_text(evaluated).c_str(),
              reproduction.runs(), reproduction.runs() == 1 ? "" : "s", reproduction.failed(),
              report::fixed(watch.seconds(), 1).c_str(), o.page.c_str());
  if (auto done = report::write_text(o.page, paper_page(evaluated, o.folder)); !done)
    return complain(done.error());
  const bool right = reproduction.failed() == 0 && wrong.empty();
  if (o.update && right) {
    for (const EvaluatedExperiment& e : evaluated) baseline->update(e.experiment->id, e.evaluation);
    if (auto done = report::write_text(o.baseline, baseline->text()); !done)
      return complain(done.error());
    return kExitOk;
  }
  return lost || !right || !survivors.empty() ? kExitRuntime : kExitOk;
}

}  // namespace

void add_paper(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "paper",
      "run the papers' experiments in the lab and compare them with the papers' claims; fails "
      "when a check that the baseline has is no longer met");
  auto o = std::make_shared<PaperOptions>();
  verb->add_option("ID", o->ids, "experiments, such as fcp-fig4 (default: all)");
  verb->add_flag("--short", o->quick, "only those that are quick");
  verb->add_option("--jobs", o->jobs, "runs at a time (default: processors)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--html", o->page, "page to write (default: paper.html among the results)")
      ->type_name("FILE");
  verb->add_option("--out", o->folder, "folder for results")
      ->type_name("DIR")
      ->capture_default_str();
  verb->add_option("--baseline", o->baseline, std::string("default: ") + kBaseline)
      ->type_name("FILE");
  verb->add_flag("--update-baseline", o->update, "write the checks met now into the baseline");
  verb->add_flag("--mutants", o->mutants,
                 "also play every run with deliberate mistakes, and name the checks that none of "
                 "them breaks (takes about five times as long)");
  verb->callback([o, &code] { code = static_cast<ExitCode>(paper(*o)); });
}

}  // namespace turnpike::lab
