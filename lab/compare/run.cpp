// SPDX-License-Identifier: BSD-3-Clause
#include "lab/compare/run.h"

#include <algorithm>
#include <cstdio>

#include "common/config/mistakes.h"
#include "common/protocols/registry.h"
#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/batch/jobs.h"
#include "lab/compare/compare.h"

namespace turnpike::lab {
namespace {

ExitCode report_error(const std::string& what) {
  std::fprintf(stderr, "turnpike lab: %s\n", what.c_str());
  return kExitRuntime;
}

/// Whether there is the scheme of that name, its preset aside; says so if not.
bool known(const std::string& scheme) {
  const std::string name = scheme.substr(0, scheme.find('+'));
  if (find_protocol(name) != nullptr) return true;
  std::vector<std::string_view> names;
  for (const Protocol& p : protocols()) names.push_back(p.name);
  report_error("--compare: there is no scheme '" + name + "'" + config::suggestion(name, names));
  return false;
}

}  // namespace

ExitCode run_comparison(const CompareOptions& o, const config::Topology& topology) {
  for (const std::string& scheme : o.schemes)
    if (!known(scheme)) return kExitUsage;
  Comparison comparison{.file = o.file, .runs = {}};
  for (const config::Flow& f : topology.flows)
    if (f.size != config::kEndless) comparison.finite.push_back(f.name);
  for (const config::Workload& w : topology.workloads) comparison.finite.push_back(w.name);
  std::vector<Command> commands;
  const std::string self = own_executable();
  for (const std::string& scheme : o.schemes) {
    if (std::ranges::find(comparison.runs, scheme, &SchemeRun::scheme) != comparison.runs.end())
      continue;  // named twice
    const std::string folder = o.folder + "/" + scheme;
    std::vector<config::Setting> settings = o.settings;
    for (auto& setting : settings_for(topology, scheme)) settings.push_back(std::move(setting));
    // Reports settings that a scheme rejects before any run begins.
    const auto loaded = config::load_file(o.file, settings);
    if (!loaded) {
      for (const config::Mistake& m : loaded.error())
        std::fprintf(stderr, "%s\n", m.text().c_str());
      return kExitBadConfiguration;
    }
    auto command = command_for({o.file, std::move(settings), o.seed, folder}, self);
    if (!command) return report_error(command.error());
    if (o.duration)
      command->argv.insert(command->argv.end(),
                           {"--duration", std::to_string(o.duration->count()) + " ns"});
    commands.push_back(std::move(*command));
    comparison.runs.push_back({scheme, folder, first_window(*loaded), {}});
  }

  size_t failed = 0;
  const bool whole = run_jobs(commands, runs_at_once(), [&](const JobEnd& end) {
    SchemeRun& run = comparison.runs[end.job];
    auto summary = nlohmann::json::parse(end.output, nullptr, /*allow_exceptions=*/false);
    if (end.why.empty() && summary.is_object()) {
      run.summary = std::move(summary);
    } else {
      ++failed;
      report_error(run.scheme + ": " + (end.why.empty() ? "printed no summary" : end.why));
    }
  });
  if (!whole) return kExitRuntime;

  const std::string stem = o.folder + "/compare";
  const std::string json = compare_json(comparison).dump(2) + "\n";
  for (const auto& [path, text] :
       {std::pair{stem + ".json", json}, {stem + ".html", compare_page(comparison)}})
    if (const auto written = report::write_text(path, text); !written)
      return report_error(written.error());
  std::fputs(o.json ? json.c_str() : compare_text(comparison).c_str(), stdout);
  if (!o.json) std::printf("\nPage: %s.html\n", stem.c_str());
  return failed == 0 ? kExitOk : kExitRuntime;
}

}  // namespace turnpike::lab
