// SPDX-License-Identifier: BSD-3-Clause
// `turnpike bench throughput FILE`: finds the rate that a file's routers carry (RFC 2544).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/config/load.h"
#include "common/config/resolve.h"
#include "common/dpdk/eal.h"
#include "common/program/command_line.h"
#include "common/program/platform.h"
#include "common/program/unix_time.h"
#include "common/program/version.h"
#include "common/report/number.h"
#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/cli/places.h"
#include "lab/cli/settings.h"
#include "lab/cli/verbs.h"
#include "lab/folder_lock.h"
#include "lab/simulator/world.h"
#include "lab/throughput/measure.h"
#include "lab/throughput/series.h"

namespace turnpike::lab {
namespace {

struct ThroughputOptions {
  std::string file, folder;
  std::vector<config::Setting> settings;
  std::vector<std::string> frames;
  std::vector<unsigned> lcores;
  std::vector<Placement> placements;
  std::string ssh = "ssh", program;
  ProgramOptions programs;
  MeasureOptions measure;
  bool lab = false, no_calibration = false;
};

/// A folder of this process's own, removed with its contents.
class SocketFolder {
 public:
  SocketFolder() {
    std::string path = std::filesystem::temp_directory_path() / "turnpike-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~SocketFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int fail(const std::string& text, ExitCode code = kExitRuntime) {
  std::fprintf(stderr, "turnpike bench: %s\n", text.c_str());
  return code;
}

void show(const std::string& what, const Trial& t) {
  const auto s = [](double v) { return report::significant(v); };
  std::printf(
      "  %-8s %10s Mpps  carried %10s  lost %8s %%  p50 %8s us  p99 %8s us  busy %3.0f %%\n",
      what.c_str(), s(t.offered_pps * 1e-6).c_str(), s(t.carried_pps * 1e-6).c_str(),
      s(100 * t.loss).c_str(), s(t.p50).c_str(), s(t.p99).c_str(), 100 * t.busy);
  for (const std::string& fault : t.faults) std::printf("    not valid: %s\n", fault.c_str());
  std::fflush(stdout);
}

int complain_of(const std::vector<config::Mistake>& mistakes) {
  for (const config::Mistake& m : mistakes) std::fprintf(stderr, "%s\n", m.text().c_str());
  return kExitBadConfiguration;
}

/// The file with each variant's values. The error is the exit code, after a message.
tl::expected<std::vector<Measured>, int> load_variants(const ThroughputOptions& o,
                                                       const config::Topology& base) {
  std::vector<Measured> series;
  for (const Variant& variant : variants(o.frames, o.lcores)) {
    auto settings = settings_for(variant, base);
    if (!settings) return tl::unexpected(fail(settings.error(), kExitBadConfiguration));
    settings->insert(settings->begin(), o.settings.begin(), o.settings.end());
    auto loaded = config::load_file(o.file, *settings);
    if (!loaded) return tl::unexpected(complain_of(loaded.error()));
    series.push_back({.variant = variant, .topology = std::move(*loaded), .measurement = {}});
  }
  return series;
}

unsigned memory_mb(std::span<const Measured> series) {
  unsigned most = 0;
  for (const Measured& m : series)
    most = std::max(most, World::memory_mb(m.topology, sender::Traces(m.topology)));
  return most;
}

tl::expected<std::unique_ptr<TrialRunner>, int> real_runner(const ThroughputOptions& o,
                                                            const config::Topology& t,
                                                            const std::string& folder) {
  if (o.placements.empty()) {
    auto made = on_real_ports(own_executable(), folder, o.programs);
    if (!made) return tl::unexpected(fail(made.error()));
    return std::move(*made);
  }
  auto places = place_nodes(t, o.placements);
  if (!places) {
    for (const std::string& why : places.error()) fail(why);
    return tl::unexpected(static_cast<int>(kExitUsage));
  }
  return on_several_machines({.places = std::move(*places),
                              .ssh = words_of(o.ssh),
                              .program = o.program.empty() ? own_executable() : o.program},
                             folder, o.programs);
}

/// The day, UTC: 2026-11-27.
std::string today() {
  const std::time_t now = unix_ns() / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%F", &utc)};
}

/// The form of bench/results: the date, this machine, and the commit of the part "throughput".
nlohmann::ordered_json results_json(const ThroughputOptions& o, const config::Topology& base,
                                    std::span<const Measured> series) {
  return {{"date", today()},
          {"machine", machine_json()},
          {"commits", {{"throughput", commit()}}},
          {"throughput",
           {{"version", project_version()},
            {"topology", config::resolved_text(base)},
            {"trial_s", to_seconds(o.measure.trial)},
            {"confirm_s", to_seconds(o.measure.confirm)},
            {"resolution", o.measure.resolution},
            {"attempts", o.measure.attempts},
            {"virtual_clock", o.lab},
            {"series", series_json(series)}}}};
}

/// Whether the results are of one measurement, in throughput.json, or of a series, in series.json.
bool is_single(const ThroughputOptions& o) { return o.frames.empty() && o.lcores.empty(); }

tl::expected<void, std::string> write_results(const ThroughputOptions& o,
                                              const config::Topology& base,
                                              std::span<const Measured> series,
                                              const std::string& path) {
  const auto json =
      is_single(o) ? measurement_json(series.front().measurement) : results_json(o, base, series);
  return report::write_text(path, json.dump(2) + "\n");
}

/// Measures each, and writes the results so far after each.
int measure_all(const ThroughputOptions& o, const config::Topology& base, TrialRunner& runner,
                std::span<Measured> series, const std::string& path) {
  for (size_t i = 0; i < series.size(); ++i) {
    Measured& m = series[i];
    if (series.size() > 1)
      std::printf("frames: %s, lcores of each router: %s\n",
                  m.variant.frames.empty() ? "the file's" : m.variant.frames.c_str(),
                  m.variant.lcores == 0 ? "the file's" : std::to_string(m.variant.lcores).c_str());
    auto measured = measure(m.topology, o.measure, runner, show);
    if (!measured) return fail(measured.error());
    m.measurement = std::move(*measured);
    if (auto done = write_results(o, base, series.first(i + 1), path); !done)
      return fail(done.error());
  }
  std::printf("\n%s\nResults in %s\n",
              is_single(o) ? measurement_text(series.front().measurement).c_str()
                           : series_text(series).c_str(),
              path.c_str());
  return kExitOk;
}

int bench(ThroughputOptions o) {
  const config::Loaded base = config::load_file(o.file, o.settings);
  if (!base) return complain_of(base.error());
  if (base->streams.empty())
    return fail(o.file +
                    ": traffic.streams: there are none to send; configs/throughput.yaml has one, "
                    "and docs/streams.md describes them",
                kExitBadConfiguration);
  auto series = load_variants(o, *base);
  if (!series) return series.error();
  const std::string folder = o.folder.empty() ? base->run.output : o.folder;
  const auto held = FolderLock::take(folder);
  if (!held) return fail(held.error(), kExitHostNotReady);
  report::remove_results(folder, {"throughput.json", "series.json"});
  std::optional<Eal> eal;
  std::unique_ptr<TrialRunner> runner;
  std::optional<SocketFolder> sockets;
  if (o.lab) {
    auto up = Eal::start({.program = "turnpike bench", .memory_mb = memory_mb(*series)});
    if (!up) return fail(up.error(), kExitHostNotReady);
    eal.emplace(std::move(*up));
    runner = on_a_virtual_clock(folder);
  } else {
    auto made = real_runner(o, *base, folder);
    if (!made) return made.error();
    runner = std::move(*made);
    sockets.emplace();
    if (sockets->path().empty()) return fail("no folder for sockets can be made");
    o.measure.sockets = sockets->path();
  }
  // On a virtual clock a generator is never late; a loopback has no other machine.
  o.measure.calibrate = !o.lab && !o.no_calibration && o.placements.empty();
  return measure_all(o, *base, *runner, *series,
                     folder + (is_single(o) ? "/throughput.json" : "/series.json"));
}

/// "64", "imix": the validator of --frames.
std::string check_frames(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return number || text == "imix" ? "" : "'" + text + "' is neither a size in B nor imix";
}

}  // namespace

void add_bench(CLI::App& app, ExitCode& code) {
  auto* group = app.add_subcommand("bench", "measure the rate that a file's routers carry");
  group->require_subcommand(1);
  auto* verb = group->add_subcommand(
      "throughput",
      "find the greatest rate of a file's open-loop streams that its routers carry, by trials of "
      "router and sender programs over the ports it attaches; the file's rates are the most tried");
  auto o = std::make_shared<ThroughputOptions>();
  verb->add_option("FILE", o->file, "topology file (YAML) with traffic.streams")->required();
  add_settings(*verb, o->settings);
  verb->add_option("--frames", o->frames,
                   "sizes of the streams' frames to measure one after the other, B with FCS, or "
                   "imix (default: the file's)")
      ->type_name("SIZE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_frames, "", "frames"));
  verb->add_option("--lcores", o->lcores,
                   "numbers of lcores of each router to measure one after the other, the first of "
                   "its list (default: all of it)")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1U, 128U));
  verb->add_option("--loss", o->measure.goals, "loss goals as shares of packets (default: 0,0.001)")
      ->delimiter(',')
      ->check([](const std::string& text) { return number_within(text, 0, 0.99); });
  verb->add_option("--resolution", o->measure.resolution, "of the rate (default: 0.01)")
      ->check([](const std::string& text) { return number_within(text, 1e-5, 0.5); });
  add_time(
      *verb, "--trial", [o](Nanos time) { o->measure.trial = time; },
      "how long each trial sends (default: 2s)", kShortestRun);
  add_time(
      *verb, "--confirm", [o](Nanos time) { o->measure.confirm = time; },
      "then play a trial of this length at the rate found, such as 60s (RFC 2544, section 24), and "
      "lower rates while it fails, five at most (default: none)",
      kShortestRun);
  verb->add_option("--attempts", o->measure.attempts,
                   "at a trial that the machine disturbed (default: 3)")
      ->check(CLI::Range(1, 100));
  verb->add_flag("--latency", o->measure.latency,
                 "then latencies at 10, 50, 90 and 99 % of the rate without loss");
  verb->add_flag("--no-calibration", o->no_calibration,
                 "do not measure the generator in loopback first");
  auto* lab = verb->add_flag("--lab", o->lab, "in this process on a virtual clock: exact");
  add_places(*verb, o->placements)->excludes(lab);
  add_ssh(*verb, o->ssh, o->program);
  add_program_options(*verb, o->programs.router, o->programs.sender);
  verb->add_option("--out", o->folder, "folder for results (default: the file's run.output)")
      ->type_name("DIR");
  verb->callback([o, &code] { code = static_cast<ExitCode>(bench(*o)); });
}

}  // namespace turnpike::lab
