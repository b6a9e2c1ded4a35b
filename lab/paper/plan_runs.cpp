// SPDX-License-Identifier: BSD-3-Clause
#include "lab/paper/plan_runs.h"

#include <filesystem>

#include "lab/paper/reproduction.h"
#include "lab/paper/samples.h"
#include "lab/paper/schemes.h"

namespace turnpike::lab {

namespace fs = std::filesystem;

tl::expected<void, std::string> add_runs(const std::vector<const Experiment*>& experiments,
                                         const std::string& root, Plan& plan) {
  for (const Experiment* e : experiments)
    for (const RunSpec& run : e->runs)
      for (const uint64_t seed : run.seeds) {
        const std::string name = e->id + ", " + run.name + ", seed " + std::to_string(seed);
        const auto settings = settings_of(run);
        if (!settings) return tl::unexpected(name + ": " + settings.error()[0].text());
        auto added = plan.add(name, {.file = run.file,
                                     .settings = *settings,
                                     .seed = seed,
                                     .count = run.count,
                                     .counter = root + "/" + kOperations});
        if (!added) return tl::unexpected(name + ": " + added.error());
      }
  return {};
}

// Hard links: no file of a result is changed later, only replaced.
tl::expected<void, std::string> copy_result(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::remove_all(to, error);
  fs::create_directories(to, error);
  if (!error)
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::create_hard_links, error);
  if (error) return tl::unexpected(to + ": " + error.message());
  return {};
}

tl::expected<void, std::string> place_results(const std::vector<const Experiment*>& experiments,
                                              const Plan& plan) {
  size_t task = 0;
  for (const Experiment* e : experiments)
    for (const RunSpec& run : e->runs)
      for (const uint64_t seed : run.seeds) {
        if (task >= plan.tasks().size())
          return tl::unexpected(plan.folder() + ": the plan is of other experiments");
        const std::string place = run_folder(plan.folder(), *e, run, seed);
        if (plan.finished(task)) {
          if (auto copied = copy_result(plan.result(task), place); !copied) return copied;
        } else {
          std::error_code ignored;
          fs::remove_all(place, ignored);
        }
        ++task;
      }
  return {};
}

}  // namespace turnpike::lab
