// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/engine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "common/dpdk/eal.h"
#include "common/dpdk/interrupt_thread.h"
#include "common/dpdk/numa.h"
#include "common/program/attachment.h"

namespace turnpike::router {
namespace {

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

tl::expected<std::unique_ptr<Engine>, std::string> Engine::make(
    const config::Topology& topology, size_t node, const std::vector<LinkDevice>& devices,
    const Options& options) {
  const auto link = [&](size_t l) -> const config::Link& {
    return topology.links[topology.routers[node].links[l]];
  };
  // First of all: it needs privileges, and its errors come before a port is taken from Linux.
  auto interfaces = LinuxInterfaces::make(topology, node);
  if (!interfaces) return tl::unexpected(interfaces.error());
  std::vector<Port> ports;
  ports.reserve(devices.size());
  for (size_t l = 0; l < devices.size(); ++l) {
    if (devices[l].port < ports.size()) continue;
    auto port = Port::attach(devices[l].device);
    if (!port) return tl::unexpected("link " + link(l).name + ": " + port.error());
    ports.push_back(std::move(*port));
  }
  const int home = numa_node_of(ports);
  const ScopedNumaAffinity at_home(home);
  const Needs needs = needs_of(topology, node, options.workers);
  auto pool =
      Pool::create("router", {.mbufs = needs.mbufs, .data_room = needs.data_room, .socket = home});
  if (!pool) return tl::unexpected(pool.error());
  std::unique_ptr<Engine> e(new Engine(std::move(*pool), std::move(ports)));
  e->limits_ = options.limits;
  if (topology.routers[node].nic_filters) e->filters_ = std::make_unique<NicFilters>();
  e->linux_ = std::move(*interfaces);
  rte_mempool* const mempool = e->pool_.get();

  const auto own = std::ranges::find(topology.gateways, node, &config::Gateway::router);
  PortOptions port_options;
  port_options.ip_verdicts = true;
  port_options.udp_verdicts = own != topology.gateways.end();
  port_options.chains = sends_chains(topology, node);
  e->balancer_ = PortBalancer::make(topology, node, devices, options.workers);
  port_options.moves_buckets = e->balancer_ != nullptr;
  std::vector<uint16_t> mtus(e->ports_.size());
  e->port_links_.resize(e->ports_.size());
  e->first_links_.resize(e->ports_.size(), devices.size());
  for (size_t l = 0; l < devices.size(); ++l) {
    const size_t p = devices[l].port;
    std::string& names = e->port_links_[p];
    names += (names.empty() ? "" : ", ") + link(l).name;
    mtus[p] = std::max(mtus[p], link(l).mtu);
    e->first_links_[p] = std::min(e->first_links_[p], l);
    e->links_.push_back(link(l).name);
    e->port_of_.push_back(p);
  }
  for (size_t p = 0; p < e->ports_.size(); ++p) {
    const LinkDevice& own = devices[e->first_links_[p]];
    port_options.queues = own.queues;
    port_options.mtu = mtus[p];
    const auto done = e->ports_[p].configure(port_options, {&mempool, 1});
    if (!done) return tl::unexpected("link " + e->port_links_[p] + ": " + done.error());
    e->kept_ += own.device.keeps;
  }
  e->link_queues_ = std::make_unique<LinkQueues>(topology, node, devices, e->ports_);
  const auto queues = e->plug_in(topology, node, devices, options.workers, needs.mbufs);
  for (size_t l = 0; l < queues.size(); ++l)
    for (unsigned w = 0; w < options.workers; ++w)
      if (queues[l][w] != nullptr) e->remote_ += turnpike::remote_text(link(l).name, e->port(l), w);
  const std::vector<rte_mempool*> pools(options.workers, mempool);
  RouterOptions router_options;
  router_options.workers = options.workers;
  router_options.slack = options.slack;
  router_options.socket = home;
  if (e->balancer_) router_options.steering = &e->balancer_->steering();
  router_options.share_pool = true;
  router_options.linux_control = true;
  auto router = Router::make(topology, node, queues, pools, router_options);
  if (!router) return tl::unexpected(router.error());
  e->router_ = std::move(*router);
  if (own != topology.gateways.end()) {
    auto gateway = gateway::Gateway::make(
        topology, static_cast<size_t>(own - topology.gateways.begin()),
        {.pool = mempool, .lcores = options.workers, .secret = options.secret, .socket = home});
    if (!gateway) return tl::unexpected(gateway.error());
    e->gateway_ = std::move(*gateway);
    for (unsigned w = 0; w < options.workers; ++w)
      e->router_->worker(w).set_tunnels(&e->gateway_->shard(w));
  }
  if (e->linux_) {
    auto control =
        LinuxControl::make(topology, node, *e->router_, *e->linux_, options.netlink_buffer);
    if (!control) return tl::unexpected(control.error());
    e->control_ = std::move(*control);
  }
  e->stalls_ = std::vector<Stalls>(options.workers);
  e->barrier_.resize(options.workers);
  e->lcores_ = std::vector<LcoreCounters>(options.workers);
  return e;
}

std::vector<std::vector<QueuePair*>> Engine::plug_in(const config::Topology& topology, size_t node,
                                                     const std::vector<LinkDevice>& devices,
                                                     unsigned workers, size_t buffers) {
  const config::Router& self = topology.routers[node];
  std::vector<std::vector<QueuePair*>> queues(devices.size());
  for (size_t l = 0; l < devices.size(); ++l) {
    const config::Link& link = topology.links[self.links[l]];
    const size_t end = link.end_at(self.name);
    const bool to_router = std::ranges::find(topology.routers, link.ends[1 - end].node,
                                             &config::Router::name) != topology.routers.end();
    const auto queue = [&](uint16_t q) -> QueuePair* {
      // The sender delays both directions of its hosts' links, a router only its transmissions.
      QueuePair& own = link_queues_->at(l, q);
      auto wire = to_router ? delay_line_at(own, link, end, false, buffers) : nullptr;
      if (!wire) return &own;
      return delay_lines_.emplace_back(std::move(wire)).get();
    };
    queues[l].resize(workers, nullptr);
    // A port with one queue goes to one worker; such ports go to the workers in turn.
    if (devices[l].queues == workers) {
      for (unsigned w = 0; w < workers; ++w) queues[l][w] = queue(static_cast<uint16_t>(w));
    } else {
      queues[l][devices[l].port % workers] = queue(0);
    }
  }
  return queues;
}

Engine::~Engine() {
  if (running_) stop([] { return false; });
  park_interrupt_thread();  // ports are closed next
}

tl::expected<void, std::string> Engine::start(const std::function<bool()>& pause) {
  std::vector<Port*> ports;
  for (Port& p : ports_) ports.push_back(&p);
  std::string text;
  for (const std::string& reason : start_ports(ports)) text += (text.empty() ? "" : "\n") + reason;
  if (!text.empty()) return tl::unexpected(text);
  if (filters_) filters_->install(ports_, linux_ != nullptr);
  for (const size_t l : wait_for_links(ports, pause, /*clients_only=*/true))
    text += (text.empty() ? "no link to the router at the other end of " : ", ") + port_links_[l];
  if (!text.empty()) return tl::unexpected(text);
  for (const Port& p : ports_) facts_.push_back(read_port_facts(p));
  if (balancer_) balancer_->start(ports_, port_links_);
  // Not before: a router that cannot start leaves nothing behind.
  if (linux_) return linux_->keep();
  return {};
}

void Engine::count_nic_drops() {
  if (filters_) filters_->count(*router_, first_links_);
}

LinkMonitor Engine::monitor() {
  std::vector<LinkMonitor::Link> links;
  for (size_t l = 0; l < links_.size(); ++l) links.push_back({links_[l], &port(l)});
  return LinkMonitor(std::move(links));
}

void Engine::follow_links(const LinkMonitor& links) {
  for (size_t l = 0; l < links_.size(); ++l) {
    if (!port(l).has_carrier()) continue;
    router_->set_link_up(l, links.up(l));
    // A link may come up later, and go down before the results are written.
    PortFacts& facts = facts_[port_of_[l]];
    if (links.up(l) && facts.link_mbps == 0) facts.link_mbps = port(l).link_mbps();
  }
}

Nanos Engine::serve_linux(const LinkMonitor& links, Nanos now) {
  if (!control_) return kNever;
  for (size_t l = 0; l < links_.size(); ++l) linux_->follow(l, links.up(l));
  return control_->poll(now);
}

tl::expected<void, std::string> Engine::launch(const TscClock& clock) {
  if (linux_)
    if (auto started = linux_->start(*router_, pool_.get()); !started) return started;
  clock_ = &clock;
  running_ = true;
  for (unsigned w = 0; w < router_->workers(); ++w) jobs_.push_back({this, w});
  for (Job& job : jobs_) {
    rte_eal_remote_launch(
        [](void* argument) {
          const Job& j = *static_cast<Job*>(argument);
          j.engine->run(j.worker);
          return 0;
        },
        &job, Eal::worker_lcore(job.worker));
  }
  return {};
}

void Engine::run(unsigned index) {
  Worker& worker = router_->worker(index);
  IdleSleeper idle_sleeper(limits_);
  LcoreCounters& counters = lcores_[index];
  LcoreMeter meter(counters);
  bool receiving = true;
  worker.online();
  while (!discard_.load(std::memory_order_relaxed)) {
    if (receiving && stop_.load(std::memory_order_relaxed)) {
      worker.stop_receiving();
      receiving = false;
      stopped_.fetch_add(1);
    }
    bool held = false;
    if (barrier_.closed()) [[unlikely]] {
      worker.offline();  // the change may commit routes, which waits for workers that are online
      held = barrier_.pass(index);
      worker.online();
    }
    const Nanos now = clock_->now();
    const Nanos missed = held ? stalls_[index].pardon(now) : stalls_[index].missed(now);
    if (missed > Nanos(0)) worker.stall(now - missed, now);
    meter.before_poll(now, held || missed > Nanos(0));
    const Nanos next =
        meter.due() ? worker.poll_timed(now, TscClock::ticks, counters.stages) : worker.poll(now);
    meter.after_poll(worker.moved());
    worker.quiescent();
    idle_sleeper.after_poll(now, worker.moved(), next == kNever ? kNever : next - now);
  }
  worker.discard();
  worker.offline();
  barrier_.leave(index);
}

tl::expected<void, std::string> Engine::at_quiescence(const std::function<void()>& change,
                                                      Nanos timeout) {
  if (!running_) {
    change();
    return {};
  }
  const Nanos begin = clock_->now();
  barrier_.close();
  while (!barrier_.full()) {
    if (clock_->now() - begin < timeout) {
      std::this_thread::yield();
      continue;
    }
    const std::string late = barrier_.missing();
    barrier_.open();
    return tl::unexpected("worker " + late +
                          " does not come to the end of a poll: nothing was changed");
  }
  const Nanos full = clock_->now();
  change();
  barrier_.open();
  pause_ = {.gathering = full - begin, .held = clock_->now() - full};
  return {};
}

void Engine::stop(const std::function<bool()>& may_wait) {
  stop_.store(true);
  if (linux_) linux_->stop_reading();
  // Queues can be called empty only when no worker adds packets to another's queue any more.
  while (stopped_.load() < router_->workers()) pause();
  while (router_->held() > 0 && may_wait()) pause();
  discard_.store(true);
  for (const Job& job : jobs_) rte_eal_wait_lcore(Eal::worker_lcore(job.worker));
  if (linux_) linux_->stop();
  if (balancer_) balancer_->steering().discard();
  if (gateway_) left_in_tunnels_ = gateway_->end();
  count_nic_drops();
  running_ = false;
}

tl::expected<void, std::string> Engine::close() {
  park_interrupt_thread();
  control_.reset();
  linux_.reset();
  router_.reset();
  gateway_.reset();
  delay_lines_.clear();
  link_queues_.reset();
  filters_.reset();
  ports_.clear();
  balancer_.reset();
  const unsigned lost = pool_.in_use();
  if (lost > kept_)
    return tl::unexpected(std::to_string(lost) + " packet buffers were not returned");
  return {};
}

std::string Engine::stalls_text() const {
  std::string text;
  for (size_t w = 0; w < stalls_.size(); ++w)
    text += stalls_[w].text("worker " + std::to_string(w));
  return text;
}

Nanos Engine::stalled() const {
  Nanos sum(0);
  for (const Stalls& s : stalls_) sum += s.total();
  return sum;
}

std::optional<size_t> Engine::link_of_port(uint16_t port) const {
  if (const auto vlan = LinkQueues::link_of(port)) return vlan;
  for (size_t p = 0; p < ports_.size(); ++p)
    if (ports_[p].id() == port) return first_links_[p];
  return {};
}

std::vector<int64_t> Engine::progress() const {
  std::vector<int64_t> polls;
  for (const Stalls& s : stalls_) polls.push_back(s.last_poll());
  return polls;
}

}  // namespace turnpike::router
