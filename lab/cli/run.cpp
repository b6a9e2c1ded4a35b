// SPDX-License-Identifier: BSD-3-Clause
// `turnpike run FILE`: routers and senders on several machines, and one report; and `turnpike
// agent`, which it starts there.
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/load.h"
#include "common/report/live.h"
#include "common/report/whole_file.h"
#include "lab/batch/case.h"
#include "lab/cli/plan_options.h"
#include "lab/cli/verbs.h"
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

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

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
  if (const auto prepared = report::prepare_folder(folder); !prepared)
    return complain("run", kExitHostNotReady, prepared.error());
  report::remove_results(folder,
                         {"summary.json", "links.csv", "rates.csv", "flows.csv", "report.html"});
  const MachinesEnd end =
      run_on_machines(*topology,
                      {.file = o.file,
                       .folder = folder,
                       .places = std::move(*places),
                       .ssh = words(o.ssh),
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

void add_options(CLI::App& verb, const std::string& name, std::vector<std::string>& out,
                 const std::string& help) {
  verb.add_option(name, out, help)->type_name("OPTION")->allow_extra_args(false);
}

}  // namespace

void add_run(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "run", "run a topology's routers and senders, here and on other machines, with one report");
  auto o = std::make_shared<RunOptions>();
  verb->add_option("FILE", o->file, "topology file (YAML)")->required();
  verb->add_option_function<std::vector<std::string>>(
          "--on",
          [o](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto placement = Placement::parse(text);
              if (!placement) throw CLI::ValidationError("--on", placement.error());
              o->placements.push_back(std::move(*placement));
            }
          },
          "ssh:HOST=NODE,NODE: a machine that ssh reaches, and the routers and hosts that it runs; "
          "may be repeated; all others run here")
      ->type_name("PLACE")
      ->allow_extra_args(false);
  verb->add_option("--out", o->folder, "folder for results (default: the file's run.output)")
      ->type_name("DIR");
  verb->add_option("--live", o->live, "style of the live view")
      ->check(CLI::IsMember({"auto", "table", "lines", "off"}));
  verb->add_option("--ssh", o->ssh, "command that connects to a host, such as 'ssh -p 2222'")
      ->type_name("COMMAND")
      ->capture_default_str();
  verb->add_option("--program", o->program,
                   "this program's path on the other machines (default: the same as here)")
      ->type_name("PATH");
  add_options(*verb, "--router-option", o->router_options,
              "for every turnpike-router, such as --idle=poll; may be repeated");
  add_options(*verb, "--sender-option", o->sender_options,
              "for every turnpike-sender, such as --duration=5s; may be repeated");
  verb->callback([o, &code] { code = run(*o); });
}

void add_agent(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand(
      "agent", "run nodes for a `turnpike run` elsewhere, which starts this over ssh");
  verb->callback([&code] { code = serve_coordinator(); });
}

}  // namespace turnpike::lab
