// SPDX-License-Identifier: BSD-3-Clause
#include "lab/throughput/trial_runner.h"

#include <filesystem>

#include "common/config/resolve.h"
#include "common/report/run_data.h"
#include "lab/demo.h"
#include "lab/router_folders.h"
#include "lab/run.h"
#include "lab/supervise.h"

namespace turnpike::lab {
namespace {

using nlohmann::json;

tl::expected<Played, std::string> gather(const config::Topology& t, const std::string& folder) {
  Played played;
  auto summary = report::read_json(folder + "/summary.json");
  if (!summary) return tl::unexpected(summary.error());
  played.summary = std::move(*summary);
  for (const config::Router& r : t.routers) {
    auto router = read_router(t, r, folder);
    if (!router) return tl::unexpected(router.error());
    played.routers.push_back(std::move(*router));
  }
  return played;
}

class Programs final : public TrialRunner {
 public:
  Programs(std::string router, std::string sender, std::string folder)
      : router_(std::move(router)), sender_(std::move(sender)), folder_(std::move(folder)) {}

  tl::expected<Played, std::string> play(const config::Topology& t) override {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) return tl::unexpected(folder_ + ": " + error.message());
    const std::string file = folder_ + "/trial.yaml";
    if (auto done = report::write_text(file, config::resolved_text(t)); !done)
      return tl::unexpected(done.error());
    ProcessSet processes = processes_for(t, file, router_, sender_, folder_);
    // Idle sleeps would limit the rate.
    for (Command& c : processes.routers) c.argv.insert(c.argv.end(), {"--idle", "poll"});
    processes.sender.argv.insert(processes.sender.argv.end(), {"--idle", "poll"});
    const auto ended = supervise(processes, [](const Command&, const std::string&) {});
    if (!ended) return tl::unexpected(ended.error().text);
    return gather(t, folder_);
  }

 private:
  std::string router_, sender_, folder_;
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
                                                                      const std::string& folder) {
  std::string router = find_program(self, "turnpike-router");
  std::string sender = find_program(self, "turnpike-sender");
  if (router.empty() || sender.empty())
    return tl::unexpected("no turnpike-" + std::string(router.empty() ? "router" : "sender") +
                          " near " + self);
  return std::make_unique<Programs>(std::move(router), std::move(sender), folder);
}

std::unique_ptr<TrialRunner> on_a_virtual_clock(const std::string& folder) {
  return std::make_unique<VirtualClock>(folder);
}

}  // namespace turnpike::lab
