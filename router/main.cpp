// SPDX-License-Identifier: BSD-3-Clause
// turnpike-router: one router of a topology on DPDK ports, until a signal ends it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include <rte_cycles.h>
#include <spdlog/spdlog.h>

#include "common/config/exit_codes.h"
#include "common/config/load.h"
#include "common/dpdk/eal.h"
#include "common/metrics/log.h"
#include "common/program/guarded.h"
#include "common/program/large_heap.h"
#include "common/program/machine_memory.h"
#include "common/program/signals.h"
#include "common/report/live.h"
#include "common/report/whole_file.h"
#include "common/units/text.h"
#include "router/program/engine.h"
#include "router/program/options.h"
#include "router/results/customers.h"
#include "router/results/record.h"

namespace turnpike::router {
namespace {

constexpr Nanos kDrainTimeout{1'000'000'000};

int fail(ExitCode code, const std::string& text) {
  std::cerr << "turnpike-router: " << text << '\n';
  return code;
}

/// The router in --node, or the only one.
tl::expected<size_t, std::string> choose_node(const config::Topology& t, const Options& o) {
  std::string names;
  for (const config::Router& r : t.routers) names += (names.empty() ? "" : ", ") + r.name;
  if (t.routers.empty()) return tl::unexpected("there is no router in " + o.file);
  if (o.nodes.size() > 1)
    return tl::unexpected(std::string("a process runs one router: give --node one name"));
  if (o.nodes.empty() && t.routers.size() > 1)
    return tl::unexpected("select a router of " + o.file + " with --node: " + names);
  if (o.nodes.empty()) return size_t{0};
  const std::string& name = o.nodes.front();
  const auto at = std::ranges::find(t.routers, name, &config::Router::name);
  if (at == t.routers.end())
    return tl::unexpected("there is no router \"" + name + "\" in " + o.file + ": it has " + names);
  return static_cast<size_t>(at - t.routers.begin());
}

std::vector<unsigned> choose_lcores(const config::Router& node, const Options& o) {
  if (!o.lcores.empty()) return o.lcores;
  if (!node.lcores.empty()) return node.lcores;
  return {available_cpus().front()};
}

/// Samples, shows and records until the end, while the workers run. The error is the reason why the
/// router could not go on.
tl::expected<void, std::string> watch(Engine& engine, const TscClock& clock, const config::Run& run,
                                      const Options& o, const std::string& name, Record& record) {
  const std::chrono::duration<double> unix_now =
      std::chrono::system_clock::now().time_since_epoch();
  Sampler sampler(unix_now.count() - to_seconds(clock.now()));
  report::Live live(report::live_style(o.live, stdout), stdout);
  LinkMonitor links = engine.monitor();
  CustomerLog customers;
  const Nanos end = o.duration ? clock.now() + *o.duration : kNever;
  Nanos next = clock.now() + run.sample;
  while (end_requests() == 0) {
    const Nanos now = clock.now();
    if (now >= end) break;
    for (const std::string& line : links.poll(now)) spdlog::info(line);
    if (!links.fatal().empty()) return tl::unexpected(links.fatal());
    if (now >= next) {
      Sample sample = sampler.take(engine.router().snapshot(), now);
      sample.stalled_ms = to_seconds(engine.stalled()) * 1e3;
      record.add(sample);
      for (const std::string& line :
           customers.lines(engine.router().customers(), engine.router().offenders(), now))
        spdlog::warn(line);
      if (o.live == "json") {
        std::puts(json_text(sample, name).c_str());
        std::fflush(stdout);
      } else {
        live.show(view_of(sample, name));
      }
      next = std::max(next + run.sample, now);
    }
    const Nanos pause = std::min({next - now, end == kNever ? kNever : end - now, Nanos(20_ms)});
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<int64_t>(pause.count(), 0)));
  }
  return {};
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return options.error();
  if (auto log = metrics::set_up_log("turnpike-router", options->log_level); !log)
    return fail(kExitUsage, log.error());
  auto loaded = config::load_file(options->file);
  if (!loaded) {
    for (const config::Mistake& m : loaded.error()) std::cerr << m.text() << '\n';
    return kExitBadConfiguration;
  }
  config::Topology t = std::move(*loaded);
  if (!options->output.empty()) t.run.output = options->output;
  const auto node = choose_node(t, *options);
  if (!node) return fail(kExitUsage, node.error());
  const std::string& name = t.routers[*node].name;
  const std::vector<unsigned> lcores = choose_lcores(t.routers[*node], *options);
  const auto workers = static_cast<unsigned>(lcores.size());
  const auto devices = link_devices(t, *node, workers);
  if (!devices) return fail(kExitBadConfiguration, devices.error());

  if (auto prepared = report::prepare_folder(t.run.output); !prepared)
    return fail(kExitHostNotReady, prepared.error());
  const std::vector<std::string> pci = pci_addresses(t, *node);
  const bool hugepages = options->hugepages || !pci.empty();
  const unsigned memory_mb = needs_of(t, *node, workers).memory_mb;
  if (const std::string why = hugepages ? "" : memory_obstacle(memory_mb, available_memory());
      !why.empty())
    return fail(kExitHostNotReady, why);
  auto eal = Eal::start({.program = "turnpike-router",
                         .workers = lcores,
                         .hugepages = hugepages,
                         .memory_mb = memory_mb,
                         .pci = pci,
                         .file_prefix = "turnpike-" + name,
                         .show_log = options->show_log,
                         .extra = options->eal});
  if (!eal) return fail(kExitHostNotReady, eal.error());
  if (end_requests() != 0) return kExitOk;
  const SleepLimits limits = sleeps(*options, !pci.empty()) ? sleep_limits_for(t) : SleepLimits();
  auto engine = Engine::make(t, *node, *devices,
                             {.workers = workers, .slack = options->slack, .limits = limits});
  if (!engine) return fail(kExitHostNotReady, engine.error());

  const TscClock clock(rte_get_tsc_hz(), TscClock::ticks());
  const auto started = (*engine)->start([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return end_requests() == 0 && clock.now() < options->wait;
  });
  if (end_requests() != 0) return kExitOk;  // nothing was forwarded
  if (!started) {
    return fail(kExitHostNotReady, started.error());
  }
  // Only once the ports belong to this process: another router may be writing there.
  auto record = Record::open(t.run.output, name);
  if (!record) return fail(kExitRuntime, record.error());
  (*engine)->launch(clock);
  spdlog::info("{} forwards on {} worker{}, {} when idle", name, workers, workers == 1 ? "" : "s",
               limits ? "sleeping" : "polling");
  std::cerr << (*engine)->remote_text();
  const auto watched = watch(**engine, clock, t.run, *options, name, *record);
  (*engine)->stop([deadline = clock.now() + kDrainTimeout, &clock] {
    return end_requests() < 2 && clock.now() < deadline;
  });

  const Snapshot end = (*engine)->router().snapshot();
  const auto written =
      record->finish(end, (*engine)->port_stats(), to_seconds(clock.now()), (*engine)->stalled(),
                     (*engine)->router().customers(), (*engine)->router().offenders());
  std::cerr << counters_text(end, name) << customers_text((*engine)->router().customers())
            << offenders_text((*engine)->router().offenders()) << (*engine)->stalls_text();
  ExitCode code = kExitOk;
  const auto complain = [&](const std::string& text) {
    code = static_cast<ExitCode>(fail(kExitRuntime, text));
  };
  if (!watched) complain(watched.error());
  if (!written) complain(written.error());
  if (!end.conserved())
    complain(
        "packet conservation failed: received + originated differs from forwarded + delivered + "
        "dropped + held");
  if (auto closed = (*engine)->close(); !closed) complain(closed.error());
  return code;
}

}  // namespace
}  // namespace turnpike::router

int main(int argc, char** argv) {
  turnpike::handle_signals();
  turnpike::heap_in_large_pages();
  return turnpike::guarded("turnpike-router", [&] { return turnpike::router::run(argc, argv); });
}
