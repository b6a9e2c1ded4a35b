// SPDX-License-Identifier: BSD-3-Clause
// `turnpike run FILE`: routers and senders on several machines, and one report; and `turnpike
// agent`, which it starts there.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/load.h"
#include "common/report/live.h"
#include "common/report/whole_file.h"
#include "lab/batch/case.h"
#include "lab/cli/places.h"
#include "lab/cli/plan_options.h"
#include "lab/cli/verbs.h"
#include "lab/folder_lock.h"
#include "lab/machines/program/agent.h"
#include "lab/machines/program/coordinator.h"
#include "lab/verdict.h"

namespace turnpike::lab {
namespace {

struct RunOptions {
  std::string file, folder, live = "auto", ssh = "ssh", program;
  std::vector<Placement> placements;
  std::vector<std::string> router_options, sender_options;
};

ExitCode run(const RunOptions& o) {
  const auto topology = config::load_file(o.file);
  if (!topology) {
    for (const config::Mistake& m : topology.error())
      std::fprintf(stderr, "%s\n", m.text().c_str());
    return kExitBadConfiguration;
  }
  auto places = place_nodes(*topology, o.placements);
  if (!places) {
    for (const std::string& why : places.error()) complain("run", kExitUsage, why);
    return kExitUsage;
  }
  const std::string folder = o.folder.empty() ? topology->run.output : o.folder;
  const auto held = FolderLock::take(folder);
  if (!held) return complain("run", kExitHostNotReady, held.error());
  report::remove_results(folder,
                         {"summary.json", "links.csv", "rates.csv", "flows.csv", "report.html"});
  const MachinesEnd end =
      run_on_machines(*topology,
                      {.file = o.file,
                       .folder = folder,
                       .places = std::move(*places),
                       .ssh = words_of(o.ssh),
                       .program = o.program.empty() ? own_executable() : o.program,
                       .router_options = o.router_options,
                       .sender_options = o.sender_options,
                       .style = report::live_style(o.live, stdout)},
                      stdout);
  if (end.summary.is_object())
    std::printf("\n%sReport: %s/report.html\n", verdict_text(end.summary).c_str(), folder.c_str());
  if (!end.failure) return kExitOk;
  return complain("run", static_cast<ExitCode>(end.failure->exit_code), end.failure->text);
}

}  // namespace

void add_run(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "run", "run a topology's routers and senders, here and on other machines, with one report");
  auto o = std::make_shared<RunOptions>();
  verb->add_option("FILE", o->file, "topology file (YAML)")->required();
  add_places(*verb, o->placements);
  verb->add_option("--out", o->folder, "folder for results (default: the file's run.output)")
      ->type_name("DIR");
  verb->add_option("--live", o->live, "style of the live view")
      ->check(CLI::IsMember({"auto", "table", "lines", "off"}));
  add_ssh(*verb, o->ssh, o->program);
  add_program_options(*verb, o->router_options, o->sender_options);
  verb->callback([o, &code] { code = run(*o); });
}

void add_agent(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "agent", "run nodes for a `turnpike run` elsewhere, which starts this over ssh");
  verb->callback([&code] { code = serve_coordinator(); });
}

}  // namespace turnpike::lab
