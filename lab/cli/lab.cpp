// SPDX-License-Identifier: BSD-3-Clause
// `turnpike lab FILE`: the router's and the sender's own code on a virtual clock.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "common/config/load.h"
#include "common/dpdk/eal.h"
#include "common/parallel/threads.h"
#include "common/program/command_line.h"
#include "common/program/machine_memory.h"
#include "common/report/number.h"
#include "lab/cli/settings.h"
#include "lab/cli/threads_option.h"
#include "lab/cli/verbs.h"
#include "lab/compare/run.h"
#include "lab/folder_lock.h"
#include "lab/memory.h"
#include "lab/program/pace.h"
#include "lab/run.h"
#include "lab/run_text.h"
#include "lab/simulator/cut.h"

namespace turnpike::lab {
namespace {

struct LabOptions {
  std::string file, folder;
  std::vector<config::Setting> settings;
  std::optional<uint64_t> seed;
  std::optional<Nanos> duration;
  std::vector<std::string> schemes;  // to compare
  unsigned threads = 1;
  bool real_time = false, json = false, explain = false;
};

/// Sets another duration than the file's. Removes traffic and spans that begin after it, so that
/// the result is a valid file.
void shorten(config::Topology& t, Nanos duration) {
  config::Run& run = t.run;
  run.duration = duration;
  run.sample = std::min(run.sample, duration);
  const auto later = [&](const auto& x) { return x.start >= duration; };
  std::erase_if(t.flows, later);
  std::erase_if(t.workloads, later);
  std::erase_if(t.streams, later);
  std::erase_if(run.measure, [&](const config::Span& s) { return s.from >= duration; });
  for (config::Span& s : run.measure) s.to = std::min(s.to, duration);
}

/// How often parts have waited for each other. `packets`: data packets that were sent.
std::string windows_text(const World::Windows& windows, uint64_t packets) {
  const auto all = static_cast<double>(windows.all), polls = static_cast<double>(windows.polls);
  return std::to_string(windows.all) + " windows, " + std::to_string(windows.parallel) +
         " of them on several threads: the others had too little to do; " +
         report::fixed(static_cast<double>(packets) / all, 1) + " data packets and " +
         report::fixed(polls / all, 1) + " polls of nodes in a window, " +
         report::fixed(static_cast<double>(windows.longest) / all, 1) +
         " of them in the part with the most: as many threads could be " +
         report::fixed(polls / static_cast<double>(windows.longest), 2) + " times as fast as one";
}

ExitCode lab(const LabOptions& o) {
  auto loaded = config::load_file(o.file, o.settings, Threads(o.threads));
  if (!loaded) {
    for (const config::Mistake& m : loaded.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
    return kExitBadConfiguration;
  }
  config::Topology& t = *loaded;
  if (o.seed) t.run.seed = *o.seed;
  if (o.duration) shorten(t, *o.duration);
  const unsigned threads = o.real_time ? 1 : o.threads;
  const std::string folder = o.folder.empty() ? t.run.output : o.folder;
  if (!o.schemes.empty()) {
    return run_comparison({.file = o.file,
                           .folder = folder,
                           .schemes = o.schemes,
                           .settings = o.settings,
                           .seed = t.run.seed,
                           .duration = o.duration,
                           .json = o.json},
                          t);
  }

  const sender::Traces traces(t, Threads(o.threads));
  const MemoryNeed need = memory_of(t, traces);
  const std::optional<size_t> available = available_memory();
  if (const std::string why = memory_refusal(need, available); !why.empty()) {
    std::fprintf(stderr, "turnpike lab: %s\n", why.c_str());
    return kExitHostNotReady;
  }
  const auto held = FolderLock::take(folder);
  if (!held) {
    std::fprintf(stderr, "turnpike lab: %s\n", held.error().c_str());
    return kExitHostNotReady;
  }
  if (!o.json) {
    std::printf("%s\n", memory_text(need, available).c_str());
    if (o.explain) std::printf("%s\n", cut_text(t, cut(t, World::parts_for(threads))).c_str());
    std::printf("\n");
    std::fflush(stdout);
  }
  auto eal = Eal::start({.program = "turnpike lab", .memory_mb = World::memory_mb(t, traces)});
  if (!eal) {
    std::fprintf(stderr, "turnpike lab: %s\n", eal.error().c_str());
    return kExitHostNotReady;
  }
  Pace pace(t, o.real_time, isatty(STDERR_FILENO) != 0);
  World::Windows windows;
  const auto play = [&](Nanos end, World& world) {
    pace.play(end, world);
    windows = world.windows();
  };
  const World::Options options{.threads = threads,
                               .traces = &traces,
                               .slack = o.real_time ? router::kRealTimeSlack : Nanos(0)};
  auto summary = run_world(t, folder, options, play);
  if (!summary) {
    std::fprintf(stderr, "turnpike lab: %s\n", summary.error().c_str());
    return kExitRuntime;
  }
  const double wall = pace.wall_s();
  if (o.json) {
    // Only printed, not written to files: a run's files are the same on every machine.
    (*summary)["wall_s"] = wall;
    (*summary)["packets_per_s"] = (*summary)["packets"].get<double>() / wall;
    std::printf("%s\n", summary->dump(2).c_str());
  } else {
    std::printf("%s\n%s\n", run_text(*summary).c_str(), speed_text(*summary, wall).c_str());
    if (o.explain) std::printf("%s\n", windows_text(windows, (*summary)["packets"]).c_str());
    std::printf("Report: %s/report.html\n", folder.c_str());
  }
  return kExitOk;
}

}  // namespace

void add_lab(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "lab",
      "run a topology in this process on a virtual clock: exact, repeatable, and usually "
      "faster than real time");
  auto o = std::make_shared<LabOptions>();
  verb->add_option("FILE", o->file, "topology file (YAML); its attachments do not matter")
      ->required();
  add_seed(*verb, o->seed);
  add_settings(*verb, o->settings);
  add_time(
      *verb, "--duration", [o](Nanos time) { o->duration = time; },
      "such as 5s; traffic that starts later is left out", kShortestRun);
  verb->add_option("--out", o->folder, "folder for results (default: the file's run.output)")
      ->type_name("DIR");
  add_threads(*verb, o->threads, "simulate");
  verb->add_flag("--explain", o->explain,
                 "say how the topology is divided among the threads, and what that costs");
  auto* real_time = verb->add_flag(
      "--realtime", o->real_time,
      "as real time passes, by the processor's clock, and as late as this machine is");
  verb->add_option("--compare", o->schemes,
                   "run the file under each of these schemes, such as fcp,xcp,rcp, with the same "
                   "random numbers, and compare them on one page")
      ->type_name("SCHEME,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(real_time);
  verb->add_flag("--json", o->json, "print the summary as JSON");
  verb->callback([o, &code] { code = lab(*o); });
}

}  // namespace turnpike::lab
