// SPDX-License-Identifier: BSD-3-Clause
// turnpike-sender: plays hosts of a topology over DPDK ports until the run is over.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <thread>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_version.h>

#include "common/config/exit_codes.h"
#include "common/config/load.h"
#include "common/dpdk/eal.h"
#include "common/program/attachment.h"
#include "common/units/text.h"
#include "sender/program/control.h"
#include "sender/program/options.h"
#include "sender/program/player.h"

namespace turnpike::sender {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_signal(int) { interrupted = interrupted + 1; }

int fail(ExitCode code, const std::string& text) {
  std::cerr << "turnpike-sender: " << text << '\n';
  return code;
}

/// The hosts that --node names, or all that are ours to play.
tl::expected<std::vector<uint32_t>, std::string> choose_hosts(const config::Topology& t,
                                                              const Options& o) {
  std::vector<uint32_t> hosts;
  for (uint32_t i = 0; i < t.hosts.size(); ++i) {
    const bool named = std::ranges::find(o.nodes, t.hosts[i].name) != o.nodes.end();
    if (o.nodes.empty() ? !t.hosts[i].external : named) hosts.push_back(i);
  }
  for (const std::string& name : o.nodes) {
    if (std::ranges::find(t.hosts, name, &config::Host::name) == t.hosts.end()) {
      return tl::unexpected("there is no host \"" + name + "\" in " + o.file);
    }
  }
  if (hosts.empty()) return tl::unexpected("there is no host to play in " + o.file);
  return hosts;
}

/// One CPU, if none were asked for: the last that no router of the file was given.
std::vector<unsigned> choose_lcores(const config::Topology& t, const Options& o) {
  if (!o.lcores.empty()) return o.lcores;
  std::vector<unsigned> cpus = available_cpus();
  const unsigned last = cpus.back();
  for (const config::Router& r : t.routers) {
    std::erase_if(cpus,
                  [&](unsigned c) { return std::ranges::find(r.lcores, c) != r.lcores.end(); });
  }
  return {cpus.empty() ? last : cpus.back()};
}

/// Polls for links until all are up; says which are not.
std::string wait_for_peers(const config::Topology& t,
                           std::span<const std::unique_ptr<Player>> players, Nanos patience) {
  std::vector<Port*> ports;
  std::vector<std::string> names;
  for (const auto& player : players) {
    for (size_t i = 0; i < player->ports().size(); ++i) {
      ports.push_back(&player->ports()[i]->port());
      names.push_back(t.hosts[player->hosts()[i]].name);
    }
  }
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience.count());
  const auto down = wait_for_links(ports, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return interrupted == 0 && std::chrono::steady_clock::now() < give_up;
  });
  std::string text;
  for (const std::string& name : down) text += (text.empty() ? "" : ", ") + name;
  return text;
}

struct Job {
  Player* player;
  const TscClock* clock;
  const Command* command;
  Naps naps;
};
int play(void* argument) {
  const Job& job = *static_cast<Job*>(argument);
  job.player->play(*job.clock, *job.command, job.naps);
  return 0;
}

/// The run itself: lcores play, this thread samples. Returns when it ended.
Nanos conduct(const config::Topology& t, std::span<const std::unique_ptr<Player>> players,
              Naps naps, Control& control) {
  const TscClock clock(rte_get_tsc_hz(), TscClock::ticks());
  Command command;
  std::vector<Job> jobs;
  for (const auto& player : players) jobs.push_back({player.get(), &clock, &command, naps});
  for (unsigned i = 0; i < jobs.size(); ++i) {
    rte_eal_remote_launch(play, &jobs[i], Eal::worker_lcore(i));
  }
  control.sample(Nanos(0));
  Nanos next = t.run.sample;
  Nanos end(0);
  while (end == Nanos(0)) {
    const Nanos now = clock.now();
    const bool over = now >= t.run.duration || interrupted != 0;
    if (over) command.stop.store(true, std::memory_order_relaxed);
    if (over || now >= next) {
      control.collect();
      control.sample(now);
      next = std::max(next + t.run.sample, now);
    }
    if (over) end = now;
    const Nanos pause = std::min({next - now, t.run.duration - now, Nanos(20_ms)});
    if (!over)
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<int64_t>(pause.count(), 0)));
  }
  for (unsigned i = 0; i < jobs.size(); ++i) {
    while (rte_eal_get_lcore_state(Eal::worker_lcore(i)) == RUNNING) {
      // A second signal does not wait for flows to close.
      if (interrupted > 1) command.leave.store(true, std::memory_order_relaxed);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    rte_eal_wait_lcore(Eal::worker_lcore(i));
  }
  return end;
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return options.error();
  auto loaded = config::load_file(options->file);
  if (!loaded) {
    for (const config::Mistake& m : loaded.error()) std::cerr << m.text() << '\n';
    return kExitBadConfiguration;
  }
  config::Topology t = std::move(*loaded);
  if (options->duration) t.run.duration = *options->duration;
  if (options->seed) t.run.seed = *options->seed;
  if (!options->output.empty()) t.run.output = options->output;

  const auto hosts = choose_hosts(t, *options);
  if (!hosts) return fail(kExitUsage, hosts.error());
  for (const uint32_t host : *hosts) {
    const config::Host& h = t.hosts[host];
    if (auto device = device_at(t.links[h.link], h.end, 0, 1); !device) {
      return fail(kExitBadConfiguration, device.error());
    }
  }
  const auto started = std::chrono::steady_clock::now();
  const std::vector<unsigned> lcores = choose_lcores(t, *options);
  std::vector<std::vector<uint32_t>> shares(std::min(lcores.size(), hosts->size()));
  for (size_t i = 0; i < hosts->size(); ++i) shares[i % shares.size()].push_back((*hosts)[i]);

  const std::vector<std::string> pci = pci_addresses(t, *hosts);
  const Naps naps = sleeps(*options, !pci.empty()) ? naps_for(t) : Naps();
  auto eal = Eal::start(
      {.program = "turnpike-sender",
       .workers = {lcores.begin(), lcores.begin() + static_cast<std::ptrdiff_t>(shares.size())},
       .hugepages = options->hugepages || !pci.empty(),
       .memory_mb = memory_mb(t, shares),
       .pci = pci,
       .file_prefix = "turnpike-sender",
       .show_log = options->show_log,
       .extra = options->eal});
  if (!eal) return fail(kExitHostNotReady, eal.error());

  std::vector<std::unique_ptr<Player>> players;
  for (auto& share : shares) {
    auto player = Player::make(t, share, static_cast<unsigned>(players.size()), t.run.seed);
    if (!player) return fail(kExitHostNotReady, player.error());
    std::cerr << (*player)->remote_text();
    players.push_back(std::move(*player));
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (const std::string down = wait_for_peers(t, players, options->wait); !down.empty()) {
    if (interrupted != 0) return kExitOk;
    return fail(kExitHostNotReady, "no link after " + to_text(options->wait) + ": " + down +
                                       "; is turnpike-router running with the same file?");
  }

  Control control(t, players, report::live_style(options->live, stdout));
  const std::chrono::duration<double> unix_time =
      std::chrono::system_clock::now().time_since_epoch();
  const Nanos end = conduct(t, players, naps, control);
  control.conclude(end);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  const RunEnd run_end{.now = end,
                       .wall_s = wall.count(),
                       .lcores = control.lcores(),
                       .unix_s = unix_time.count(),
                       .facts = {{"DPDK", rte_version()}}};
  const auto written = control.write(t.run.output, run_end);
  std::cerr << counters_text(t, players) << control.verdict_text(run_end) << "\nResults in "
            << t.run.output << '\n';

  ExitCode code = kExitOk;
  if (!written) code = static_cast<ExitCode>(fail(kExitRuntime, written.error()));
  for (const auto& player : players) {
    if (auto closed = player->close(); !closed) {
      code = static_cast<ExitCode>(fail(kExitRuntime, closed.error()));
    }
  }
  return code;
}

}  // namespace
}  // namespace turnpike::sender

int main(int argc, char** argv) { return turnpike::sender::run(argc, argv); }
