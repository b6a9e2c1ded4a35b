// SPDX-License-Identifier: BSD-3-Clause
// `turnpike sweep FILE`: the lab over all combinations of settings and seeds.
#include "lab/sweep/sweep.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/batch/jobs.h"
#include "lab/cli/verbs.h"

namespace turnpike::lab {
namespace {

struct SweepOptions {
  std::string file, folder = "out/sweep";
  std::vector<Axis> axes;
  std::vector<uint64_t> seeds{1};
  std::vector<std::string> metrics;
  unsigned jobs = processors();
};

/// Reports once the mistakes that every run would report.
bool fits(const std::string& file, const std::vector<config::Setting>& settings) {
  const auto loaded = config::load_file(file, settings);
  if (loaded) return true;
  for (const config::Mistake& m : loaded.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
  return false;
}

bool write(const std::string& path, const std::string& text) {
  const auto done = report::write_text(path, text);
  if (!done) std::fprintf(stderr, "turnpike sweep: %s\n", done.error().c_str());
  return done.has_value();
}

std::string name_of(const Combination& c, uint64_t seed) {
  return settings_text(c.settings) + (c.settings.empty() ? "" : ", ") + "seed " +
         std::to_string(seed);
}

ExitCode sweep(const SweepOptions& o) {
  Sweep sweep{.file = o.file, .axes = o.axes, .seeds = o.seeds, .metrics = o.metrics};
  const std::string self = own_executable();
  std::vector<Command> commands;  // by combination, then by seed
  auto all = combinations(o.axes);
  for (const auto& settings : all)
    if (!fits(o.file, settings)) return kExitBadConfiguration;
  if (const auto prepared = report::prepare_folder(o.folder); !prepared) {
    std::fprintf(stderr, "turnpike sweep: %s\n", prepared.error().c_str());
    return kExitHostNotReady;
  }
  for (auto& settings : all) {
    const std::string folder = o.folder + "/" + std::to_string(sweep.combinations.size() + 1);
    for (const uint64_t seed : o.seeds) {
      auto command =
          command_for({o.file, settings, seed, folder + "/seed-" + std::to_string(seed)}, self);
      if (!command) {
        std::fprintf(stderr, "turnpike sweep: %s\n", command.error().c_str());
        return kExitRuntime;
      }
      commands.push_back(std::move(*command));
    }
    sweep.combinations.push_back(
        {std::move(settings), std::vector<nlohmann::json>(o.seeds.size())});
  }

  const bool watched = isatty(STDERR_FILENO) != 0;
  size_t ended = 0, failed = 0;
  const bool whole = run_jobs(commands, o.jobs, [&](const JobEnd& end) {
    Combination& c = sweep.combinations[end.job / o.seeds.size()];
    const size_t seed = end.job % o.seeds.size();
    auto summary = nlohmann::json::parse(end.output, nullptr, /*allow_exceptions=*/false);
    const std::string why = !end.why.empty()      ? end.why
                            : summary.is_object() ? ""
                                                  : "printed no summary";
    if (why.empty())
      c.summaries[seed] = std::move(summary);
    else
      ++failed, std::fprintf(stderr, "turnpike sweep: %s: %s\n", name_of(c, o.seeds[seed]).c_str(),
                             why.c_str());
    if (watched) std::fprintf(stderr, "\r%zu of %zu runs", ++ended, commands.size());
  });
  if (watched) std::fprintf(stderr, "\n");
  if (!whole) return kExitRuntime;

  if (sweep.metrics.empty()) sweep.metrics = default_metrics(sweep);
  std::fputs(sweep_text(sweep).c_str(), stdout);
  const std::string stem = o.folder + "/sweep";
  if (!write(stem + ".csv", sweep_csv(sweep)) ||
      !write(stem + ".json", sweep_json(sweep).dump(2) + "\n") ||
      !write(stem + ".html", sweep_page(sweep)))
    return kExitRuntime;
  std::printf("\n%zu run%s, %zu failed. Page: %s.html\n", commands.size(),
              commands.size() == 1 ? "" : "s", failed, stem.c_str());
  return failed == 0 ? kExitOk : kExitRuntime;
}

}  // namespace

void add_sweep(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "sweep",
      "run a topology in the lab with every combination of settings and seeds, and gather the "
      "results");
  auto o = std::make_shared<SweepOptions>();
  verb->add_option("FILE", o->file, "topology file (YAML)")->required();
  verb->add_option_function<std::vector<std::string>>(
          "--set",
          [o](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto axis = parse_axis(text);
              if (!axis)
                throw CLI::ValidationError("--set", "'" + text + "' is not PATH=VALUE,VALUE,...");
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
  verb->add_option("--jobs", o->jobs, "runs at a time (default: processors)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--out", o->folder, "folder for results")
      ->type_name("DIR")
      ->capture_default_str();
  verb->callback([o, &code] { code = sweep(*o); });
}

}  // namespace turnpike::lab
