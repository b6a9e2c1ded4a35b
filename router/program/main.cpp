// SPDX-License-Identifier: BSD-3-Clause
// turnpike-router: one router of a topology on DPDK ports, until a signal ends it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>
#include <rte_cycles.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>

#include "common/config/exit_codes.h"
#include "common/config/load.h"
#include "common/dpdk/eal.h"
#include "common/metrics/log.h"
#include "common/metrics/nonblocking_output.h"
#include "common/program/attachment.h"
#include "common/program/control_path.h"
#include "common/program/guarded.h"
#include "common/program/large_heap.h"
#include "common/program/machine_memory.h"
#include "common/program/platform.h"
#include "common/program/runtime_folder.h"
#include "common/program/sandbox/sandbox.h"
#include "common/program/service_manager.h"
#include "common/program/signals.h"
#include "common/report/live.h"
#include "common/report/whole_file.h"
#include "common/units/text.h"
#include "router/linux/network_namespace.h"
#include "router/program/control_loop.h"
#include "router/program/engine.h"
#include "router/program/options.h"
#include "router/program/platform_record.h"
#include "router/reload/key_changes.h"
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

int remove_interfaces(const config::Topology& t, size_t node) {
  const auto removed = LinuxInterfaces::remove(t, node);
  if (!removed) return fail(kExitHostNotReady, removed.error());
  for (const std::string& name : *removed) std::cout << "removed interface " << name << '\n';
  return kExitOk;
}

int remove_all_interfaces() {
  std::vector<std::string> namespaces = network_namespaces();
  namespaces.emplace_back();
  const LinuxInterfaces::Removed removed = LinuxInterfaces::remove_all(namespaces);
  for (const std::string& name : removed.names) std::cout << "removed interface " << name << '\n';
  for (const std::string& error : removed.errors) fail(kExitHostNotReady, error);
  return removed.errors.empty() ? kExitOk : kExitHostNotReady;
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return options.error();
  if (auto log = metrics::set_up_log("turnpike-router", options->log_level); !log)
    return fail(kExitUsage, log.error());
  if (options->remove_interfaces && options->file.empty()) return remove_all_interfaces();
  std::optional<History> history;
  std::string file = options->file;
  if (!options->state.empty()) {
    auto opened = History::open(options->state);
    if (!opened) return fail(kExitHostNotReady, opened.error());
    history.emplace(std::move(*opened));
    const History::Start start = history->start();
    if (!start.note.empty()) spdlog::warn(start.note);
    if (start.number) file = history->path(*start.number);
    if (start.number)
      spdlog::info("starts with the committed configuration {}; a reload reads {}", *start.number,
                   options->file);
  }
  auto loaded = config::load_file(file);
  if (!loaded) {
    for (const config::Mistake& m : loaded.error()) std::cerr << m.text() << '\n';
    return kExitBadConfiguration;
  }
  config::Topology t = std::move(*loaded);
  if (!options->output.empty()) t.run.output = options->output;
  const auto node = choose_node(t, *options);
  if (!node) return fail(kExitUsage, node.error());
  const std::string& name = t.routers[*node].name;
  if (options->remove_interfaces) return remove_interfaces(t, *node);
  if (!options->accounting.empty() &&
      std::ranges::find(t.gateways, *node, &config::Gateway::router) == t.gateways.end())
    return fail(kExitUsage, "--accounting: router " + name + " is no gateway of " + options->file);
  if (const std::string why = key_obstacle(t, name); !why.empty())
    return fail(kExitHostNotReady, why);
  const std::vector<unsigned> lcores = choose_lcores(t.routers[*node], *options);
  const auto workers = static_cast<unsigned>(lcores.size());
  const auto devices = link_devices(t, *node, workers);
  if (!devices) return fail(kExitBadConfiguration, devices.error());
  for (const size_t l : t.routers[*node].links)
    if (auto done = prepare_socket(t.links[l], t.links[l].end_at(name)); !done)
      return fail(kExitHostNotReady, done.error());

  if (auto prepared = report::prepare_folder(t.run.output); !prepared)
    return fail(kExitHostNotReady, prepared.error());
  const std::vector<std::string> pci = pci_addresses(t, *node);
  const bool hugepages = options->hugepages || !pci.empty();
  const Needs memory = needs_of(t, *node, workers);
  const unsigned memory_mb = memory.memory_mb;
  if (const std::string why =
          hugepages ? "" : memory_obstacle(memory_mb + memory.beside_mb, available_memory());
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
  sender::SecretKey secret;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret)
    return fail(kExitHostNotReady, "the kernel gives no random numbers");
  auto engine = Engine::make(t, *node, *devices,
                             {.workers = workers,
                              .slack = options->slack,
                              .limits = limits,
                              .netlink_buffer = options->netlink_buffer,
                              .secret = secret});
  if (!engine) return fail(kExitHostNotReady, engine.error() + eal->memory_hint());

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
  if (!record) return fail(kExitHostNotReady, record.error());
  report::remove_results(t.run.output, {platform_file("router-" + name).c_str()});
  ServiceManager manager = ServiceManager::from_environment();
  ReloadRequests reload({.engine = **engine,
                         .clock = clock,
                         .running = t,
                         .file = std::filesystem::absolute(options->file),
                         .history = std::move(history),
                         .adjust = [output = t.run.output](config::Topology& wanted) {
                           wanted.run.output = output;
                         }});
  if (!options->state.empty()) {
    if (auto begun = reload.begin(); !begun) return fail(kExitHostNotReady, begun.error());
    reload_on_hup();
  }
  ControlLoop control({.engine = **engine,
                       .clock = clock,
                       .topology = t,
                       .node = *node,
                       .options = *options,
                       .record = *record,
                       .manager = manager,
                       .reload = reload});
  if (auto listening = control.listen(); !listening) {
    if (!options->control.empty()) return fail(kExitHostNotReady, listening.error());
    spdlog::warn("no control socket: {}", listening.error());
  }
  if (auto serving = control.serve_metrics(); !serving)
    return fail(kExitHostNotReady, serving.error());
  if (auto kept = control.keep_accounts(); !kept) return fail(kExitHostNotReady, kept.error());
  const nlohmann::ordered_json platform = platform_json(lcores);
  SandboxNeeds needs = needs_of_ports(attachments(t, *node));
  if (t.routers[*node].linux_control) needs.add_linux_control();
  const auto sandbox = enter_sandbox(
      {.mode = options->sandbox,
       .needs = needs,
       .topology = options->file,
       .readable = key_files(t, name),
       .writable = {t.run.output, runtime_folder(), state_folder(),
                    control_folder(options->control), options->state, options->accounting}});
  if (!sandbox) return fail(kExitHostNotReady, sandbox.error());
  spdlog::info(*sandbox);
  if (auto launched = (*engine)->launch(clock); !launched)
    return fail(kExitHostNotReady, launched.error());
  spdlog::info("{} forwards on {} worker{}, {} when idle", name, workers, workers == 1 ? "" : "s",
               limits ? "sleeping" : "polling");
  for (const std::string& line : (*engine)->nic_texts()) spdlog::info(line);
  for (const std::string& line : (*engine)->spread_warnings()) spdlog::warn(line);
  for (const std::string& line : (*engine)->slot_warnings()) spdlog::warn(line);
  std::cerr << (*engine)->remote_text();
  manager.ready(name + " forwards");
  const auto watched = control.run();
  manager.stopping();
  (*engine)->stop([deadline = clock.now() + kDrainTimeout, &clock] {
    return end_requests() < 2 && clock.now() < deadline;
  });
  if (const uint32_t left = (*engine)->left_in_tunnels(); left > 0)
    spdlog::info("{} packets of customers still waited for tunnels and were dropped", left);
  const auto accounted = control.end_accounts();

  const Snapshot end = (*engine)->router().snapshot();
  const auto written =
      record->finish(end, (*engine)->port_stats(), to_seconds(clock.now()), (*engine)->stalled(),
                     (*engine)->router().customers(), (*engine)->router().offenders());
  const auto described = write_platform(platform, **engine, name, t.run.output);
  // A terminal that is stopped does not keep the router from ending.
  metrics::NonBlockingOutput(STDERR_FILENO)
      .write(counters_text(end, name) + customers_text((*engine)->router().customers()) +
             offenders_text((*engine)->router().offenders()) + (*engine)->stalls_text());
  ExitCode code = kExitOk;
  const auto complain = [&](const std::string& text) {
    code = static_cast<ExitCode>(fail(kExitRuntime, text));
  };
  if (!watched) complain(watched.error());
  if (!written) complain(written.error());
  if (!described) complain(described.error());
  if (!accounted) complain(accounted.error());
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
