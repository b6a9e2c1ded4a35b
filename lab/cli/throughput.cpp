// SPDX-License-Identifier: BSD-3-Clause
// `turnpike bench throughput FILE`: finds the rate that a file's routers carry (RFC 2544).
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/config/load.h"
#include "common/dpdk/eal.h"
#include "common/program/command_line.h"
#include "common/report/number.h"
#include "common/report/run_data.h"
#include "lab/batch/case.h"
#include "lab/cli/verbs.h"
#include "lab/simulator/world.h"
#include "lab/throughput/measure.h"

namespace turnpike::lab {
namespace {

struct ThroughputOptions {
  std::string file, folder;
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

int bench(ThroughputOptions o) {
  const config::Loaded loaded = config::load_file(o.file);
  if (!loaded) {
    for (const config::Mistake& m : loaded.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
    return kExitBadConfiguration;
  }
  const config::Topology& t = *loaded;
  if (t.streams.empty())
    return fail(o.file +
                    ": traffic.streams: there are none to send; configs/throughput.yaml has one, "
                    "and docs/streams.md describes them",
                kExitBadConfiguration);
  const std::string folder = o.folder.empty() ? t.run.output : o.folder;
  if (const auto prepared = report::prepare_folder(folder); !prepared)
    return fail(prepared.error(), kExitHostNotReady);
  std::optional<Eal> eal;
  std::unique_ptr<TrialRunner> runner;
  std::optional<SocketFolder> sockets;
  if (o.lab) {
    auto up = Eal::start(
        {.program = "turnpike bench", .memory_mb = World::memory_mb(t, sender::Traces(t))});
    if (!up) return fail(up.error(), kExitHostNotReady);
    eal.emplace(std::move(*up));
    runner = on_a_virtual_clock(folder);
  } else {
    auto made = on_real_ports(own_executable(), folder);
    if (!made) return fail(made.error());
    runner = std::move(*made);
    sockets.emplace();
    if (sockets->path().empty()) return fail("no folder for sockets can be made");
    o.measure.sockets = sockets->path();
  }
  // On a virtual clock a generator is never late.
  o.measure.calibrate = !o.lab && !o.no_calibration;
  const auto m = measure(t, o.measure, *runner, show);
  if (!m) return fail(m.error());
  const std::string path = folder + "/throughput.json";
  if (auto done = report::write_text(path, measurement_json(*m).dump(2) + "\n"); !done)
    return fail(done.error());
  std::printf("\n%s\nResults in %s\n", measurement_text(*m).c_str(), path.c_str());
  return kExitOk;
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
  verb->add_option("--loss", o->measure.goals, "loss goals as shares of packets (default: 0,0.001)")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 0.99));
  verb->add_option("--resolution", o->measure.resolution, "of the rate (default: 0.01)")
      ->check(CLI::Range(1e-5, 0.5));
  add_time(
      *verb, "--trial", [o](Nanos time) { o->measure.trial = time; },
      "how long each trial sends (default: 2s)");
  verb->add_option("--attempts", o->measure.attempts,
                   "at a trial that the machine disturbed (default: 3)")
      ->check(CLI::Range(1, 100));
  verb->add_flag("--latency", o->measure.latency,
                 "then latencies at 10, 50, 90 and 99 % of the rate without loss");
  verb->add_flag("--no-calibration", o->no_calibration,
                 "do not measure the generator in loopback first");
  verb->add_flag("--lab", o->lab, "in this process on a virtual clock: exact");
  verb->add_option("--out", o->folder, "folder for results (default: the file's run.output)")
      ->type_name("DIR");
  verb->callback([o, &code] { code = static_cast<ExitCode>(bench(*o)); });
}

}  // namespace turnpike::lab
