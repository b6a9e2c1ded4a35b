// SPDX-License-Identifier: BSD-3-Clause
// `turnpike demo [FILE]`: the main job, in one command.
#include "lab/demo.h"

#include <filesystem>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/load.h"
#include "common/report/run_data.h"
#include "lab/cli/verbs.h"
#include "lab/folder_lock.h"
#include "lab/live_run.h"
#include "lab/program/disturbance.h"
#include "lab/report.h"
#include "lab/router_folders.h"
#include "lab/verdict.h"

namespace turnpike::lab {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  std::string file, folder, live = "auto";
};

std::string lab_folder(const std::string& folder) { return folder + "/lab"; }

std::string first_that_exists(const std::vector<fs::path>& candidates) {
  std::error_code ignored;
  for (const fs::path& p : candidates)
    if (fs::exists(p, ignored)) return p.lexically_normal().string();
  return "";
}

/// Plays the file on the virtual clock. Returns its summary, or its failure.
tl::expected<nlohmann::json, Failure> play_reference(const Command& command,
                                                     const std::string& folder) {
  const auto ended =
      supervise({.routers = {}, .sender = command}, [](const Command&, const std::string&) {});
  if (!ended) return tl::unexpected(ended.error());
  return report::read_json(lab_folder(folder) + "/summary.json")
      .map_error([](const std::string& why) {
        return Failure{kExitRuntime, why};
      });
}

int demo(const DemoOptions& options) {
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  const std::string file = options.file.empty() ? find_demo_file(self) : options.file;
  if (file.empty()) {
    std::fprintf(stderr, "turnpike demo: no configs/demo.yaml here; name a topology file\n");
    return kExitUsage;
  }
  const config::Loaded topology = config::load_file(file);
  if (!topology) {
    for (const config::Mistake& m : topology.error())
      std::fprintf(stderr, "%s\n", m.text().c_str());
    return kExitBadConfiguration;
  }
  const std::string router = find_program(self, "turnpike-router");
  const std::string sender = find_program(self, "turnpike-sender");
  if (router.empty() || sender.empty()) {
    std::fprintf(stderr, "turnpike demo: no turnpike-%s near %s\n",
                 router.empty() ? "router" : "sender", self.c_str());
    return kExitRuntime;
  }
  const std::string folder = options.folder.empty() ? topology->run.output : options.folder;
  const auto held = FolderLock::take(folder);
  if (!held) {
    std::fprintf(stderr, "turnpike demo: %s\n", held.error().c_str());
    return kExitHostNotReady;
  }
  std::printf("%s: %s, results and logs in %s\n", file.c_str(), topology->run.name.c_str(),
              folder.c_str());
  std::fflush(stdout);
  return play(*topology, reference_for(self, file, folder),
              processes_for(*topology, file, router, sender, folder), folder,
              report::live_style(options.live, stdout), stdout);
}

}  // namespace

std::string find_program(const std::string& executable, const std::string& name) {
  const fs::path here = fs::path(executable).parent_path();
  const std::string part = name.substr(name.find('-') + 1);  // build/router/turnpike-router
  return first_that_exists({here / name, here / ".." / part / name});
}

std::string find_demo_file(const std::string& executable) {
  const fs::path here = fs::path(executable).parent_path(), file = "configs/demo.yaml";
  return first_that_exists({file, here / "../.." / file, here / "../share/turnpike" / file});
}

ProcessSet processes_for(const config::Topology& topology, const std::string& file,
                         const std::string& router_program, const std::string& sender_program,
                         const std::string& folder) {
  ProcessSet processes;
  for (const config::Router& r : topology.routers)
    processes.routers.push_back({.name = "turnpike-router (" + r.name + ")",
                                 .argv = {router_program, file, "--node", r.name, "--live", "json",
                                          "--out", router_folder(topology, r, folder)},
                                 .log = folder + "/" + r.name + ".log"});
  processes.sender = {.name = "turnpike-sender",
                      .argv = {sender_program, file, "--live", "json", "--out", folder},
                      .log = folder + "/sender.log"};
  return processes;
}

Command reference_for(const std::string& turnpike, const std::string& file,
                      const std::string& folder) {
  return {.name = "turnpike lab",
          .argv = {turnpike, "lab", file, "--out", lab_folder(folder)},
          .log = folder + "/lab.log"};
}

int play(const config::Topology& topology, const std::optional<Command>& reference,
         const ProcessSet& processes, const std::string& folder, report::LiveStyle style,
         std::FILE* out) {
  // Removes the results of an earlier run, which could be mistaken for this run's.
  std::error_code ignored;
  for (const char* name : {"summary.json", "links.csv", "rates.csv", "flows.csv", "report.html"})
    fs::remove(fs::path(folder) / name, ignored);

  const auto fail = [](const Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.text.c_str());
    return failure.exit_code;
  };
  std::optional<nlohmann::json> lab;
  if (reference) {
    auto played = play_reference(*reference, folder);
    if (!played) return fail(played.error());
    lab = std::move(*played);
  }
  Disturbance disturbance;
  LiveRun live(topology, style, out);
  std::vector<std::string> hosts;
  for (const config::Host& h : topology.hosts) hosts.push_back(h.name);
  const auto ended = supervise(processes, [&](const Command& who, const std::string& line) {
    const bool sender = who.name == processes.sender.name;
    disturbance.hear(who.name, line, sender);
    if (sender)
      live.sender_line(line, hosts);
    else
      live.router_line(line);
  });
  if (!ended) return fail(ended.error());
  gather_links(topology, folder);
  const auto evaluated = [&](nlohmann::json& summary) {
    add_disturbance(summary, disturbance);
    if (lab) add_reference(summary, *lab);
  };
  const auto summary = finish_report(folder, evaluated);
  if (!summary) {
    std::fprintf(stderr, "turnpike demo: %s\n", summary.error().c_str());
    return kExitRuntime;
  }
  std::fprintf(out, "\n%sReport: %s/report.html\n", verdict_text(*summary).c_str(), folder.c_str());
  return demo_good(*summary) ? kExitOk : kExitRuntime;
}

void add_demo(CLI::App& app, ExitCode& code) {
  auto* verb = app.add_subcommand("demo",
                                  "run a topology with router and sender processes on this "
                                  "machine, and check the shares; needs no NIC, no hugepages");
  auto options = std::make_shared<DemoOptions>();
  verb->add_option("FILE", options->file, "topology file (default: configs/demo.yaml)");
  verb->add_option("--out", options->folder, "folder for results (default: the file's run.output)")
      ->type_name("DIR");
  verb->add_option("--live", options->live, "style of the live view")
      ->check(CLI::IsMember({"auto", "table", "lines", "off"}));
  verb->callback([options, &code] { code = static_cast<ExitCode>(demo(*options)); });
}

}  // namespace turnpike::lab
