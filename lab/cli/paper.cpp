// SPDX-License-Identifier: BSD-3-Clause
// `turnpike paper [ID...]`: plays the papers' experiments and checks their claims.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
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
  bool quick = false, update = false;
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
    for (const RunSpec& run : e.runs) {
      const auto settings = settings_of(run);
      if (!settings) return complain(settings.error()[0].text()) == kExitOk;
      for (const uint64_t seed : run.seeds) {
        const std::string folder = run_folder(o_.folder, e, run, seed);
        clear(folder);
        auto command = command_for({run.file, *settings, seed, folder}, own_executable());
        if (!command) return complain(command.error()) == kExitOk;
        if (!run.count.empty())
          command->argv.insert(command->argv.begin(),
                               {o_.root + "/" + kOperations, run.count, folder});
        command->name = e.id + ", " + run.name + ", seed " + std::to_string(seed);
        commands_.push_back(std::move(*command));
        experiment_of_.push_back(evaluated_.size());
      }
    }
    evaluated_.push_back({.experiment = &e});
    left_.push_back(std::ranges::count(experiment_of_, evaluated_.size() - 1));
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
      if (!end.why.empty()) {
        ++failed_;
        complain(commands_[end.job].name + ": " + end.why);
      }
      evaluated_[i].wall_s += end.wall_s;
      --left_[i];
      tell();
    });
  }

  [[nodiscard]] const std::vector<EvaluatedClaims>& evaluated() const { return evaluated_; }
  [[nodiscard]] size_t failed() const { return failed_; }
  [[nodiscard]] size_t runs() const { return commands_.size(); }
  [[nodiscard]] std::vector<ClaimResult> results() const {
    std::vector<ClaimResult> all;
    for (const EvaluatedClaims& j : evaluated_)
      all.insert(all.end(), j.results.begin(), j.results.end());
    return all;
  }

 private:
  /// Removes the results of an earlier run, which could be mistaken for this run's.
  static void clear(const std::string& folder) {
    std::error_code ignored;
    for (const char* name : {"summary.json", "links.csv", "rates.csv", "flows.csv"})
      fs::remove(fs::path(folder) / name, ignored);
  }

  void tell() {
    for (; shown_ < evaluated_.size() && left_[shown_] == 0; ++shown_) {
      EvaluatedClaims& j = evaluated_[shown_];
      j.metrics = metrics_of(*j.experiment, o_.folder);
      j.results = evaluate(*j.experiment, j.metrics);
      baseline_.compare(j.results);
      std::printf("%s: %s (%s s)\n%s\n", j.experiment->id.c_str(), j.experiment->title.c_str(),
                  report::fixed(j.wall_s, 1).c_str(), verdict_lines(j).c_str());
      std::fflush(stdout);
    }
  }

  const PaperOptions& o_;
  const Baseline baseline_;
  std::vector<EvaluatedClaims> evaluated_;
  std::vector<Command> commands_;
  std::vector<size_t> experiment_of_;  // by command
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

  const auto results = reproduction.results();
  const bool lost = std::ranges::any_of(results, &ClaimResult::lost);
  std::printf("%s; %zu run%s, %zu failed, %s s. Page: %s\n",
              count_text(reproduction.evaluated()).c_str(), reproduction.runs(),
              reproduction.runs() == 1 ? "" : "s", reproduction.failed(),
              report::fixed(watch.seconds(), 1).c_str(), o.page.c_str());
  if (auto done = report::write_text(o.page, paper_page(reproduction.evaluated(), o.folder)); !done)
    return complain(done.error());
  if (o.update && reproduction.failed() == 0) {
    baseline->update(results);
    if (auto done = report::write_text(o.baseline, baseline->text()); !done)
      return complain(done.error());
    return kExitOk;
  }
  return lost || reproduction.failed() != 0 ? kExitRuntime : kExitOk;
}

}  // namespace

void add_paper(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "paper",
      "run the papers' experiments in the lab and compare them with the papers' claims; fails "
      "when a claim that the baseline has is no longer met");
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
  verb->add_flag("--update-baseline", o->update, "write the claims met now into the baseline");
  verb->callback([o, &code] { code = static_cast<ExitCode>(paper(*o)); });
}

}  // namespace turnpike::lab
