// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/reproduction.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>

#include <unistd.h>

#include "common/parallel/threads.h"
#include "common/report/number.h"
#include "lab/batch/content.h"
#include "lab/paper/plan_runs.h"
#include "lab/paper/schemes.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

// A mutated run may fill the network with flows that never end. One that exceeds this fails.
constexpr const char* kMutantLimit = "--cpu=60";  // s

/// Removes the results of an earlier run, which could be mistaken for this run's.
void clear(const std::string& folder) {
  std::error_code ignored;
  for (const char* name : {"summary.json", "links.csv", "rates.csv", "flows.csv"})
    fs::remove(fs::path(folder) / name, ignored);
}

}  // namespace

Reproduction::Reproduction(ReproductionOptions options, Baseline baseline,
                           const std::vector<const Experiment*>& experiments)
    : options_(std::move(options)), baseline_(std::move(baseline)), left_(experiments.size()) {
  for (const Experiment* e : experiments) {
    evaluated_.push_back({.experiment = e});
    seconds_.emplace_back(e->runs.size());
  }
}

Reproduction::Done Reproduction::play() {
  if (options_.mutants) clear_mutants();
  for (size_t i = 0; i < evaluated_.size(); ++i) {
    const Experiment& e = *evaluated_[i].experiment;
    for (size_t r = 0; r < e.runs.size(); ++r)
      for (const uint64_t seed : e.runs[r].seeds)
        if (auto added = add(i, r, seed, nullptr); !added) return added;
  }
  if (!options_.mutants) print_evaluated();  // those without a run
  if (auto played = play_added(); !played || !options_.mutants) return played;
  if (auto played = play_mutants(); !played) return played;
  print_evaluated();
  return {};
}

void Reproduction::take(size_t failed) {
  for (const EvaluatedExperiment& e : evaluated_)
    for (const RunSpec& run : e.experiment->runs) runs_ += run.seeds.size();
  failed_ = failed;
  Threads(options_.jobs).for_each(evaluated_.size(), [&](size_t i) {
    evaluate_runs(evaluated_[i]);
  });
  print_evaluated();
}

// First the run of each check that takes the least time, then all runs of the checks that are left.
Reproduction::Done Reproduction::play_mutants() {
  for (EvaluatedExperiment& e : evaluated_) {
    evaluate_runs(e);
    break_file_checks(*e.experiment, e.metrics, options_.folder, e.evaluation);
  }
  for (const bool all : {false, true})
    for (size_t m = 0; m < kMutations.size(); ++m) {
      const auto mutation = static_cast<Mutation>(m);
      for (size_t i = 0; i < evaluated_.size(); ++i) {
        const Experiment& e = *evaluated_[i].experiment;
        for (const size_t r : runs_to_mutate(e, mutation, evaluated_[i].evaluation,
                                             all ? std::vector<double>{} : seconds_[i])) {
          const std::string folder = mutants_folder(options_.folder, mutation);
          if (all && fs::exists(run_folder(folder, e, e.runs[r], e.runs[r].seeds[0]))) continue;
          if (auto added = add(i, r, e.runs[r].seeds[0], &mutation); !added) return added;
        }
      }
      const std::vector<Played> mutants = played_;
      if (auto played = play_added(); !played) return played;
      for (const Played& p : mutants)
        for (const Place& place : p.places) {
          EvaluatedExperiment& e = evaluated_[place.experiment];
          break_checks(*e.experiment, e.metrics, options_.folder, {place.run}, mutation,
                       e.evaluation);
        }
      // One of several runs cannot move the median of all.
      for (EvaluatedExperiment& e : evaluated_)
        if (const auto runs = mutated_runs(*e.experiment, mutation); all && runs.size() > 1)
          break_checks(*e.experiment, e.metrics, options_.folder, runs, mutation, e.evaluation);
    }
  return {};
}

std::set<size_t> Reproduction::mutated_runs(const Experiment& e, Mutation mutation) const {
  std::set<size_t> runs;
  const std::string folder = mutants_folder(options_.folder, mutation);
  for (size_t r = 0; r < e.runs.size(); ++r)
    if (fs::exists(run_folder(folder, e, e.runs[r], e.runs[r].seeds[0]) + "/summary.json"))
      runs.insert(r);
  return runs;
}

Reproduction::Done Reproduction::add(size_t experiment, size_t run, uint64_t seed,
                                     const Mutation* mutation) {
  const Experiment& e = *evaluated_[experiment].experiment;
  const RunSpec& r = e.runs[run];
  std::string name = e.id + ", " + r.name;
  if (mutation != nullptr) name.append(", ").append(kMutations[static_cast<size_t>(*mutation)]);
  const auto settings = mutation != nullptr ? mutated(r, *mutation) : settings_of(r);
  if (!settings) return tl::unexpected(name + ": " + settings.error()[0].text());
  const std::string& out = options_.folder;
  const std::string folder =
      run_folder(mutation != nullptr ? mutants_folder(out, *mutation) : out, e, r, seed);
  clear(folder);
  const Case played{.file = r.file,
                    .settings = *settings,
                    .seed = seed,
                    .folder = folder,
                    .count = mutation != nullptr ? counted_law(r, *mutation) : r.count,
                    .counter = options_.root + "/" + kOperations};
  const auto content = content_of(played);
  if (!content) return tl::unexpected(name + ": " + content.error());
  if (mutation == nullptr) ++left_[experiment];
  const auto [same, is_new] = contents_.emplace(content->text, played_.size());
  if (!is_new) {
    played_[same->second].places.push_back({experiment, run, folder});
    return {};
  }
  auto command = command_for(played, own_executable());
  if (!command) return tl::unexpected(command.error());
  if (mutation != nullptr)
    command->argv.insert(command->argv.begin(), {"/usr/bin/prlimit", kMutantLimit});
  command->name = name + ", seed " + std::to_string(seed);
  played_.push_back({.command = std::move(*command),
                     .mutant = mutation != nullptr,
                     .work = content->work,
                     .places = {{experiment, run, folder}}});
  return {};
}

Reproduction::Done Reproduction::play_added() {
  std::ranges::stable_sort(played_, std::greater(), &Played::work);
  std::vector<Command> commands;
  commands.reserve(played_.size());
  for (const Played& p : played_) commands.push_back(p.command);
  const bool done = run_jobs(commands, options_.jobs, [this](const JobEnd& end) { ended(end); });
  runs_ += played_.size();
  ended_ = 0;
  played_.clear();
  contents_.clear();
  if (!done) return tl::unexpected(std::string("interrupted"));
  return {};
}

void Reproduction::ended(const JobEnd& end) {
  ++ended_;
  if (isatty(STDERR_FILENO) != 0)
    std::fprintf(stderr, "\r%zu of %zu runs\r", ended_, played_.size());
  const Played& p = played_[end.job];
  std::string why = end.why;
  for (const Place& place : std::span(p.places).subspan(1))
    if (const auto copied = copy_result(p.places[0].folder, place.folder); !copied && why.empty())
      why = copied.error();
  evaluated_[p.places[0].experiment].wall_s += end.wall_s;
  if (p.mutant) {
    failed_mutants_ += why.empty() ? 0 : 1;
    return;
  }
  if (!why.empty()) {
    ++failed_;
    std::fprintf(stderr, "turnpike paper: %s: %s\n", p.command.name.c_str(), why.c_str());
  }
  for (const Place& place : p.places) {
    double& seconds = seconds_[place.experiment][place.run];
    seconds = std::max(seconds, end.wall_s);
    --left_[place.experiment];
  }
  if (!options_.mutants) print_evaluated();
}

void Reproduction::evaluate_runs(EvaluatedExperiment& e) const {
  e.metrics = metrics_of(*e.experiment, options_.folder);
  e.evaluation = evaluate(*e.experiment, e.metrics);
}

void Reproduction::print_evaluated() {
  for (; shown_ < evaluated_.size() && left_[shown_] == 0; ++shown_) {
    EvaluatedExperiment& e = evaluated_[shown_];
    if (e.metrics.empty()) evaluate_runs(e);
    baseline_.compare(e.evaluation);
    if (!options_.mutants) baseline_.recall_mutants(e.evaluation);
    std::printf("%s: %s (%s s)\n%s\n", e.experiment->id.c_str(), e.experiment->title.c_str(),
                report::fixed(e.wall_s, 1).c_str(), verdict_lines(e).c_str());
    std::fflush(stdout);
  }
}

void Reproduction::clear_mutants() {
  for (const EvaluatedExperiment& e : evaluated_)
    for (size_t m = 0; m < kMutations.size(); ++m)
      for (const RunSpec& run : e.experiment->runs) {
        std::error_code ignored;
        fs::remove_all(run_folder(mutants_folder(options_.folder, static_cast<Mutation>(m)),
                                  *e.experiment, run, run.seeds[0]),
                       ignored);
      }
}

}  // namespace turnpike::lab
