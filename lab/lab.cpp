// SPDX-License-Identifier: BSD-3-Clause
// `turnpike lab FILE`: the router's and the sender's own code on a virtual clock.
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
#include "common/program/command_line.h"
#include "lab/program/progress.h"
#include "lab/run.h"
#include "lab/verbs.h"
#include "lab/verdict.h"

namespace turnpike::lab {
namespace {

struct Options {
  std::string file, folder;
  std::vector<config::Setting> settings;
  std::optional<uint64_t> seed;
  std::optional<Nanos> duration;
  bool json = false;
};

ExitCode lab(const Options& o) {
  auto loaded = config::load_file(o.file, o.settings);
  if (!loaded) {
    for (const config::Mistake& m : loaded.error()) std::fprintf(stderr, "%s\n", m.text().c_str());
    return kExitBadConfiguration;
  }
  config::Topology& t = *loaded;
  if (o.seed) t.run.seed = *o.seed;
  if (o.duration) t.run.duration = *o.duration;
  const std::string folder = o.folder.empty() ? t.run.output : o.folder;

  auto eal = Eal::start({.program = "turnpike lab", .memory_mb = memory_mb(t)});
  if (!eal) {
    std::fprintf(stderr, "turnpike lab: %s\n", eal.error().c_str());
    return kExitHostNotReady;
  }
  ProgressLine line(t.run.duration, isatty(STDERR_FILENO) != 0);
  const auto summary = run_world(t, folder, [&](Nanos now) { return line(now); });
  if (!summary) {
    std::fprintf(stderr, "turnpike lab: %s\n", summary.error().c_str());
    return kExitRuntime;
  }
  if (o.json) {
    std::printf("%s\n", summary->dump(2).c_str());
  } else {
    std::printf("%sReport: %s/report.html\n", verdict_text(*summary).c_str(), folder.c_str());
  }
  return kExitOk;
}

}  // namespace

void add_lab(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "lab",
      "play a topology in this process on a virtual clock: exact, repeatable, and usually "
      "faster than real time");
  auto o = std::make_shared<Options>();
  verb->add_option("FILE", o->file, "topology file (YAML); its attachments do not matter")
      ->required();
  verb->add_option("--seed", o->seed, "instead of the file's");
  verb->add_option_function<std::vector<std::string>>(
          "--set",
          [o](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto setting = config::parse_setting(text);
              if (!setting) throw CLI::ValidationError("\"" + text + "\" is not PATH=VALUE");
              o->settings.push_back(std::move(*setting));
            }
          },
          "a value in place of the file's, such as links.bottleneck.rate='1 Gbps'; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option_function<std::string>(
      "--duration", positive_time([o](Nanos time) { o->duration = time; }), "such as 5s");
  verb->add_option("--out", o->folder, "folder for results (default: the file's run.output)");
  verb->add_flag("--json", o->json, "print the summary as JSON");
  verb->callback([o, &code] { code = lab(*o); });
}

}  // namespace turnpike::lab
