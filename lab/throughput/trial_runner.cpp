// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/trial_runner.h"

#include <filesystem>

#include "common/config/resolve.h"
#include "common/program/platform.h"
#include "common/report/run_data.h"
#include "lab/demo.h"
#include "lab/machines/program/coordinator.h"
#include "lab/machines/results.h"
#include "lab/router_folders.h"
#include "lab/run.h"
#include "lab/supervise.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;

/// Adds the platform file in `folder`, if there is one, as `name`.
void add_platform(const std::string& folder, const std::string& program, const std::string& name,
                  Played& out) {
  if (auto platform = report::read_json(folder + "/" + platform_file(program)))
    out.platforms[name] = std::move(*platform);
}

tl::expected<Played, std::string> gather(const config::Topology& t, const std::string& folder) {
  Played played;
  auto summary = report::read_json(folder + "/summary.json");
  if (!summary) return tl::unexpected(summary.error());
  played.summary = std::move(*summary);
  for (const config::Router& r : t.routers) {
    auto router = read_router(t, r, folder);
    if (!router) return tl::unexpected(router.error());
    played.routers.push_back(std::move(*router));
    add_platform(router_folder(t, r, folder), "router-" + r.name, "router " + r.name, played);
  }
  return played;
}

/// Writes the trial's topology into the folder, which it makes. Returns the file.
tl::expected<std::string, std::string> write_trial(const config::Topology& t,
                                                   const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return tl::unexpected(folder + ": " + error.message());
  std::string file = folder + "/trial.yaml";
  return report::write_text(file, config::resolved_text(t)).map([&] { return file; });
}

/// Idle sleeps would limit the rate.
ProgramOptions polling(ProgramOptions options) {
  options.router.emplace_back("--idle=poll");
  options.sender.emplace_back("--idle=poll");
  return options;
}

void append(const std::vector<std::string>& options, std::vector<std::string>& argv) {
  argv.insert(argv.end(), options.begin(), options.end());
}

class Programs final : public TrialRunner {
 public:
  Programs(std::string router, std::string sender, std::string folder, ProgramOptions options)
      : router_(std::move(router)),
        sender_(std::move(sender)),
        folder_(std::move(folder)),
        options_(polling(std::move(options))) {}

  tl::expected<Played, std::string> play(const config::Topology& t) override {
    const auto file = write_trial(t, folder_);
    if (!file) return tl::unexpected(file.error());
    ProcessSet processes = processes_for(t, *file, router_, sender_, folder_);
    for (Command& c : processes.routers) append(options_.router, c.argv);
    append(options_.sender, processes.sender.argv);
    const auto ended = supervise(processes, [](const Command&, const std::string&) {});
    if (!ended) return tl::unexpected(ended.error().text);
    auto played = gather(t, folder_);
    if (played) add_platform(folder_, "sender", "sender", *played);
    return played;
  }

 private:
  std::string router_, sender_, folder_;
  ProgramOptions options_;
};

class Machines final : public TrialRunner {
 public:
  Machines(TrialMachines machines, std::string folder, ProgramOptions options)
      : machines_(std::move(machines)),
        folder_(std::move(folder)),
        options_(polling(std::move(options))) {}

  tl::expected<Played, std::string> play(const config::Topology& t) override {
    const auto file = write_trial(t, folder_);
    if (!file) return tl::unexpected(file.error());
    const MachinesEnd end = run_on_machines(t,
                                            {.file = *file,
                                             .folder = folder_,
                                             .places = machines_.places,
                                             .ssh = machines_.ssh,
                                             .program = machines_.program,
                                             .router_options = options_.router,
                                             .sender_options = options_.sender},
                                            stdout);
    if (end.failure) return tl::unexpected(end.failure->text);
    auto played = gather(t, folder_);
    if (!played) return played;
    for (const Place& place : machines_.places)
      if (!place.hosts.empty())
        add_platform(machine_folder(folder_, place) + "/hosts", "sender",
                     "sender on " + place.name(), *played);
    return played;
  }

 private:
  TrialMachines machines_;
  std::string folder_;
  ProgramOptions options_;
};

class VirtualClock final : public TrialRunner {
 public:
  explicit VirtualClock(std::string folder) : folder_(std::move(folder)) {}
  tl::expected<Played, std::string> play(const config::Topology& t) override {
    auto summary = run_world(t, folder_, {}, [](Nanos end, World& world) { world.run_until(end); });
    if (!summary) return tl::unexpected(summary.error());
    return gather(t, folder_);
  }

 private:
  std::string folder_;
};

}  // namespace

tl::expected<std::unique_ptr<TrialRunner>, std::string> on_real_ports(const std::string& self,
                                                                      const std::string& folder,
                                                                      ProgramOptions options) {
  std::string router = find_program(self, "turnpike-router");
  std::string sender = find_program(self, "turnpike-sender");
  if (router.empty() || sender.empty())
    return tl::unexpected("no turnpike-" + std::string(router.empty() ? "router" : "sender") +
                          " near " + self);
  return std::make_unique<Programs>(std::move(router), std::move(sender), folder,
                                    std::move(options));
}

std::unique_ptr<TrialRunner> on_several_machines(TrialMachines machines, const std::string& folder,
                                                 ProgramOptions options) {
  return std::make_unique<Machines>(std::move(machines), folder, std::move(options));
}

std::unique_ptr<TrialRunner> on_a_virtual_clock(const std::string& folder) {
  return std::make_unique<VirtualClock>(folder);
}

}  // namespace turnpike::lab
