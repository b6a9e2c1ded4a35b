// SPDX-License-Identifier: BSD-3-Clause
// turnpike-sender: runs hosts of a topology on DPDK ports for the duration of the run.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include <rte_launch.h>
#include <rte_version.h>
#include <sys/random.h>

#include "common/config/exit_codes.h"
#include "common/config/load.h"
#include "common/dpdk/eal.h"
#include "common/program/attachment.h"
#include "common/program/guarded.h"
#include "common/program/machine_memory.h"
#include "common/program/runtime_folder.h"
#include "common/program/sandbox/sandbox.h"
#include "common/program/signals.h"
#include "common/report/whole_file.h"
#include "common/units/text.h"
#include "sender/program/control.h"
#include "sender/program/lcore_runner.h"
#include "sender/program/links.h"
#include "sender/program/options.h"
#include "sender/program/platform_record.h"
#include "sender/program/start.h"
#include "sender/results/record_file.h"
#include "sender/results/shortfall.h"

namespace turnpike::sender {
namespace {

int fail(ExitCode code, const std::string& text) {
  std::cerr << "turnpike-sender: " << text << '\n';
  return code;
}

/// Indices of the hosts that --node names, by default of all that are not external.
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
  if (hosts.empty()) return tl::unexpected("there is no host to emulate in " + o.file);
  return hosts;
}

/// The CPUs of --lcores, by default one: the last CPU that no router of the file uses.
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

struct Job {
  LcoreRunner* runner;
  const TscClock* clock;
  const Command* command;
  SleepLimits limits;
};
int play(void* argument) {
  const Job& job = *static_cast<Job*>(argument);
  job.runner->play(*job.clock, *job.command, job.limits);
  return 0;
}

/// How the run ended.
struct Ending {
  Nanos at{0};
  std::string down;   // links that were down then; empty: none
  std::string fatal;  // why it could not go on, if it could not
};

/// Runs the lcores; this thread samples totals and monitors links. Returns after the lcores have
/// stopped.
Ending run_control_loop(const config::Topology& t,
                        std::span<const std::unique_ptr<LcoreRunner>> runners, SleepLimits limits,
                        const TscClock& clock, Control& control) {
  Links links(t, runners);
  Command command;
  std::vector<Job> jobs;
  for (const auto& runner : runners) jobs.push_back({runner.get(), &clock, &command, limits});
  for (unsigned i = 0; i < jobs.size(); ++i) {
    rte_eal_remote_launch(play, &jobs[i], Eal::worker_lcore(i));
  }
  control.sample(Nanos(0));
  Nanos next = t.run.sample;
  Ending end;
  while (end.at == Nanos(0)) {
    const Nanos now = clock.now();
    links.poll(now);
    const bool over =
        now >= t.run.duration || end_requests() != 0 || !links.monitor().fatal().empty();
    if (over) command.stop.store(true, std::memory_order_relaxed);
    if (over || now >= next) {
      control.collect();
      control.sample(now);
      next = std::max(next + t.run.sample, now);
    }
    if (over) end = {.at = now, .down = links.monitor().down(), .fatal = links.monitor().fatal()};
    const Nanos pause = std::min({next - now, t.run.duration - now, Nanos(20_ms)});
    if (!over)
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<int64_t>(pause.count(), 0)));
  }
  for (unsigned i = 0; i < jobs.size(); ++i) {
    while (rte_eal_get_lcore_state(Eal::worker_lcore(i)) == RUNNING) {
      // After a second signal, do not wait for flows to close.
      if (end_requests() > 1 || !end.fatal.empty())
        command.leave.store(true, std::memory_order_relaxed);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    rte_eal_wait_lcore(Eal::worker_lcore(i));
  }
  return end;
}

/// Reports that a signal ended the program before the run.
int ended_early() {
  return fail(kExitRuntime,
              std::string("ended by ") + end_signal() + " before the run began: nothing was sent");
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
    if (auto done = prepare_socket(t.links[h.link], h.end); !done)
      return fail(kExitHostNotReady, done.error());
  }
  if (hosts->size() > config::kMaxPorts)
    return fail(kExitBadConfiguration,
                options->file + ": " + std::to_string(hosts->size()) +
                    " hosts have ports, and the limit of DPDK is " +
                    std::to_string(config::kMaxPorts) +
                    " in one process: run several senders with some of the hosts each (--node)");
  if (auto prepared = report::prepare_folder(t.run.output); !prepared)
    return fail(kExitHostNotReady, prepared.error());
  const auto started = std::chrono::steady_clock::now();
  const std::vector<unsigned> lcores = choose_lcores(t, *options);
  std::vector<std::vector<uint32_t>> shares(std::min(lcores.size(), hosts->size()));
  for (size_t i = 0; i < hosts->size(); ++i) shares[i % shares.size()].push_back((*hosts)[i]);

  const std::vector<std::string> pci = pci_addresses(t, *hosts);
  const SleepLimits limits = sleeps(*options, !pci.empty()) ? sleep_limits_for(t) : SleepLimits();
  const bool hugepages = options->hugepages || !pci.empty();
  const unsigned needed_mb = memory_mb(t, shares);
  if (const std::string why = hugepages ? "" : memory_obstacle(needed_mb, available_memory());
      !why.empty())
    return fail(kExitHostNotReady, why);
  auto eal = Eal::start(
      {.program = "turnpike-sender",
       .workers = {lcores.begin(), lcores.begin() + static_cast<std::ptrdiff_t>(shares.size())},
       .hugepages = hugepages,
       .memory_mb = needed_mb,
       .pci = pci,
       .file_prefix = "turnpike-sender",
       .show_log = options->show_log,
       .extra = options->eal});
  if (!eal) return fail(kExitHostNotReady, eal.error());
  if (end_requests() != 0) return ended_early();

  SecretKey secret;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret)
    return fail(kExitHostNotReady, "the kernel gives no random numbers");
  std::vector<std::unique_ptr<LcoreRunner>> runners;
  for (auto& share : shares) {
    const auto worker = static_cast<unsigned>(runners.size());
    auto runner = LcoreRunner::make(t, share, worker, t.run.seed, secret);
    if (!runner) return fail(kExitHostNotReady, runner.error() + eal->memory_hint());
    std::cerr << (*runner)->remote_text();
    runners.push_back(std::move(*runner));
  }
  const auto linked = wait_for_peers(t, runners, options->wait);
  if (end_requests() != 0) return ended_early();
  if (!linked) return fail(kExitHostNotReady, linked.error());

  const nlohmann::ordered_json platform =
      describe_platform(t, runners, std::span(lcores).first(runners.size()));
  std::vector<const config::Attachment*> ports;
  for (const uint32_t host : *hosts)
    ports.push_back(&t.links[t.hosts[host].link].ends[t.hosts[host].end].attachment);
  const auto sandbox = enter_sandbox({.mode = options->sandbox,
                                      .needs = needs_of_ports(ports),
                                      .topology = options->file,
                                      .writable = {t.run.output, runtime_folder()}});
  if (!sandbox) return fail(kExitHostNotReady, sandbox.error());

  report::remove_results(t.run.output, {"summary.json", "rates.csv", "flows.csv", "record.jsonl",
                                        "report.html", platform_name().c_str()});
  Control control(t, runners, report::live_style(options->live, stdout));
  const auto start = options->coordinated ? start_as_told() : start_now();
  if (end_requests() != 0) return ended_early();
  if (!start) return fail(kExitRuntime, start.error());
  const Ending end = run_control_loop(t, runners, limits, start->clock, control);
  control.conclude(end.at);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  const RunEnd run_end{.now = end.at,
                       .wall_s = wall.count(),
                       .lcores = control.lcores(),
                       .unix_s = start->unix_s,
                       .facts = {{"DPDK", rte_version()}}};
  auto written = control.write(t.run.output, run_end);
  if (written && options->coordinated)
    written = write_record(control.recorder().record(), run_end, t.run.output);
  if (written) written = write_platform(platform, run_end.lcores, t.run.output);
  for (const std::string& line : new_refusals())
    std::cerr << "turnpike-sender: the sandbox refused " << line << '\n';
  std::cerr << counters_text(t, runners) << control.verdict_text(run_end) << "\nResults in "
            << t.run.output << '\n';

  ExitCode code = kExitOk;
  const auto complain = [&](const std::string& text) {
    if (!text.empty()) code = static_cast<ExitCode>(fail(kExitRuntime, text));
  };
  complain(end.fatal);
  if (!end.down.empty()) complain("not delivered: at the end there was no link " + end.down);
  if (const std::string text = shortfall_text(t, control.recorder().record()); !text.empty())
    complain("not delivered: " + text);
  if (!written) complain(written.error());
  for (const auto& runner : runners)
    if (auto closed = runner->close(); !closed) complain(closed.error());
  return code;
}

}  // namespace
}  // namespace turnpike::sender

int main(int argc, char** argv) {
  turnpike::handle_signals();
  return turnpike::guarded("turnpike-sender", [&] { return turnpike::sender::run(argc, argv); });
}
